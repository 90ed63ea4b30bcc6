// The syntax tree that Python's process sends: a tree of any shape is traced, or refused with an
// Error that is not a bug of ours.
#include "drive.h"
#include "frontend/make_task.h"
#include "frontend/syntax.h"
#include "frontend/trace.h"

namespace kw::fuzz {

const std::vector<std::string> kPieces = {"{\"_\": \"Call\"",
                                          "\"_\": \"Name\"",
                                          "\"_\": \"Return\"",
                                          "\"_\": \"BinOp\"",
                                          "\"at\": [",
                                          "\"at\": [9, 9, 9, 9]",
                                          "null",
                                          "[]",
                                          "{}",
                                          "-1",
                                          "1e308",
                                          "9223372036854775807",
                                          "\"torch\"",
                                          "\"x\"",
                                          "\"value\": ",
                                          "\"body\": [",
                                          "\"args\": [",
                                          "true",
                                          "\"\\u0000\"",
                                          ","};

void check(const std::string& bytes) {
  const Result<Json> tree = Json::parse(bytes);
  if (!tree) return;
  auto source = std::make_shared<frontend::Source>();
  source->path = source->name = "fuzz.py";
  source->text = "import torch\n\n\ndef twice(x, n=2):\n  return torch.relu(x) * n\n";
  source->tree = *tree;
  frontend::TraceEntry entry;
  entry.source = source;
  entry.name = "twice";
  frontend::TensorArgument x;
  x.text.dtype = tensor::DType::Fp32;
  x.text.shape = {"B", "D"};
  entry.arguments.push_back({"x", false, std::move(x)});
  const auto traced = frontend::trace_entry(entry, {{"B", 3}, {"D", 5}});
  require(traced || !traced.error().message.empty(), "an Error says something");
  require(traced || traced.error().blame != Blame::Bug, "a tree is no bug of ours");
}

}  // namespace kw::fuzz
