// The graph that the process with PyTorch sends: any JSON becomes a task, or is refused.
#include "drive.h"
#include "frontend/aten.h"

namespace kw::fuzz {

const std::vector<std::string> kPieces = {"\"format\": \"kernelwright-aten-1\"",
                                          "\"op\": \"aten.mul.Tensor\"",
                                          "\"shape\": [",
                                          "\"dtype\": \"float32\"",
                                          "\"inputs\": [",
                                          "\"outputs\": [",
                                          "\"nodes\": [",
                                          "null",
                                          "[]",
                                          "{}",
                                          "-1",
                                          "0",
                                          "9223372036854775807",
                                          "1e308",
                                          "\"x\"",
                                          "\"B\"",
                                          "true",
                                          "\"args\": [",
                                          ","};

void check(const std::string& bytes) {
  Result<Json> graph = Json::parse(bytes);
  if (!graph) return;
  frontend::Exported exported;
  exported.path = "fuzz.py";
  exported.name = "fuzz";
  exported.graph = *graph;
  const auto task = frontend::task_from_export(std::move(exported));
  require(task || !task.error().message.empty(), "an Error says something");
}

}  // namespace kw::fuzz
