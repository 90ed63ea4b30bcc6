// The op table against PyTorch: our graph, interpreted, must have PyTorch's dtypes and shapes
// exactly and its values within the propagated bound. Live where PyTorch is installed; always
// against recorded elements.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "expected.h"
#include "metric/metric.h"
#include "os/process.h"
#include "table.h"
#include "torch_worker/torch_python.h"
#include "tracing.h"
#include "truth/interpreter.h"

namespace kw::ops {
namespace {

namespace fs = std::filesystem;

const char* const kTables[] = {"activation", "arithmetic", "aten",       "cast", "creation",
                               "indexing",   "matmul",     "movement",   "norm", "pointwise",
                               "reduction",  "scan",       "selection",  "conv", "pool",
                               "loss",       "attention",  "interpolate"};

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

fs::path folder() { return KW_OPS_DIR; }

template <typename T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(result).value();
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return graph::shape_text(graph::Shape(shape.begin(), shape.end()));
}

std::string signature(tensor::DType dtype, const std::vector<int64_t>& shape) {
  return tensor::dtype_name(dtype) + shape_text(shape);
}

/// "" when the case is what PyTorch says it is, else what is wrong.
class Judge {
 public:
  Judge(const Case& one, const Expected& expected) : one_(one), expected_(expected) {}

  std::string run(const Tracing& tracing, size_t i) const {
    if (one_.refused != expected_.refused) {
      return one_.refused ? "PyTorch does not refuse it"
                          : "PyTorch refuses it: " + expected_.raises;
    }
    Result<graph::Graph> graph = tracing.trace(one_, i);
    if (one_.refused) return judge_refusal(graph);
    if (!graph) return "we refuse it: " + graph.error().message;
    return judge_values(*graph);
  }

 private:
  std::string judge_refusal(const Result<graph::Graph>& graph) const {
    if (graph) return "we do not refuse it; PyTorch: " + expected_.raises;
    const std::string& message = graph.error().message;
    if (graph.error().blame != Blame::Input) return "refused as our own bug: " + message;
    if (message.find(one_.raises) == std::string::npos) {
      return fmt::format("refused without '{}': {}", one_.raises, message);
    }
    return "";
  }

  std::string judge_values(const graph::Graph& graph) const {
    std::vector<tensor::HostTensor> inputs;
    for (const InputSpec& spec : one_.inputs) inputs.push_back(must(make_input(one_, spec)));
    truth::Interpreter interpreter;
    ports::TruthOptions options;
    options.threads = 1;
    auto truths = interpreter.truth(graph, inputs, options);
    if (!truths) return "no truth: " + truths.error().message;
    auto stepwise = interpreter.op_by_op(graph, inputs, options);
    if (!stepwise) return "no run op by op: " + stepwise.error().message;
    if (truths->size() != expected_.outputs.size()) {
      return fmt::format("{} outputs, PyTorch has {}", truths->size(), expected_.outputs.size());
    }
    for (size_t i = 0; i < truths->size(); ++i) {
      std::string wrong =
          judge_output((*truths)[i], std::move((*stepwise)[i]), expected_.outputs[i]);
      if (!wrong.empty()) return fmt::format("output {}: {}\n{}", i, wrong, graph::print(graph));
    }
    return "";
  }

  // Elements that were not recorded are taken from our own run in the declared precision.
  std::string judge_output(const ports::Truth& truth, tensor::HostTensor values,
                           const ExpectedOutput& want) const {
    if (truth.dtype != want.dtype || truth.shape != want.shape) {
      return fmt::format("{}, PyTorch has {}", signature(truth.dtype, truth.shape),
                         signature(want.dtype, want.shape));
    }
    if (auto laid = overlay(want, values); !laid) return laid.error().message;
    metric::CompareOptions options;
    options.precision.flush = true;  // PyTorch's vector functions on the CPU do
    const metric::Comparison comparison = metric::compare(truth, values, options);
    if (comparison.pass) return "";
    if (!comparison.summary.worst) return comparison.reason;
    const record::Worst& worst = *comparison.summary.worst;
    return fmt::format("{} ({}: PyTorch {}, truth {}, z {})", comparison.reason,
                       metric::element_text(worst), worst.got, worst.want, worst.z);
  }

  const Case& one_;
  const Expected& expected_;
};

int judge_table(const std::string& table, const std::map<std::string, Expected>& all) {
  const std::vector<Case> cases =
      must(parse_table(read_text(folder() / "tables" / (table + ".txt"))));
  const Tracing tracing = must(Tracing::parse(cases));
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto expected = all.find(cases[i].name);
    if (expected == all.end()) {
      ADD_FAILURE() << cases[i].name << ": not recorded; run run_torch.py expected.txt --record";
      continue;
    }
    const std::string wrong = Judge(cases[i], expected->second).run(tracing, i);
    if (!wrong.empty())
      ADD_FAILURE() << cases[i].name << ": " << cases[i].expression << "\n" << wrong;
  }
  return static_cast<int>(cases.size());
}

class OpTable : public testing::TestWithParam<const char*> {};

TEST_P(OpTable, AgreesWithRecordedPyTorch) {
  const auto all = must(parse_expected(read_text(folder() / "expected.txt")));
  EXPECT_GT(judge_table(GetParam(), all), 10);
}

std::string table_name(const testing::TestParamInfo<const char*>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Recorded, OpTable, testing::ValuesIn(kTables), table_name);

TEST(TorchOpTable, AgreesWithPyTorch) {
  const torch_worker::FoundPython python = torch_worker::find_torch_python();
  if (python.path.empty()) {
    std::string looked;
    for (const std::string& line : python.looked_at) looked += "\n  " + line;
    GTEST_SKIP() << "no Python with PyTorch:" << looked;
  }
  const fs::path out = fs::path(testing::TempDir()) / "kw_op_table.txt";
  os::ProcessLimits limits;
  limits.timeout_seconds = 300;
  const std::string script = (folder() / "run_torch.py").string();
  const auto ran = must(os::run_process({python.path, "-B", script, out.string()}, {}, limits));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  const auto all = must(parse_expected(read_text(out)));
  fs::remove(out);
  int cases = 0;
  for (const char* table : kTables) cases += judge_table(table, all);
  EXPECT_GE(cases, 1000);
}

}  // namespace
}  // namespace kw::ops
