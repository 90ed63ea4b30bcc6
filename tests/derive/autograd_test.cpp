// Gradients against torch.autograd: every float case of the op table, with drawn upstream
// gradients, within the propagated bound. A sample; all with KW_TORCH_ALL=1.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "exec/bound.h"
#include "expected.h"
#include "graph/derive.h"
#include "oracle/interpreter.h"
#include "oracle/torch_python.h"
#include "os/process.h"
#include "table_cases.h"
#include "verify/metric.h"

namespace kw::derive {
namespace {

namespace fs = std::filesystem;
using graph::Graph;

constexpr const char* kSampled = "7";  // each n-th case

/// PyTorch's CPU kernels round half types between steps where its CUDA kernels do not.
exec::Truth loosened(const exec::Truth& truth) {
  const double unit = exec::unit_roundoff(truth.dtype);
  exec::Truth loose = truth;
  loose.exact = false;
  if (unit <= exec::unit_roundoff(tensor::DType::Fp32)) return loose;
  loose.h.resize(loose.value.size());
  for (size_t i = 0; i < loose.h.size(); ++i)
    loose.h[i] += static_cast<float>(unit * (2 + 4 * std::abs(loose.value[i])));
  return loose;
}

std::string judge(const exec::Truth& truth, const ops::ExpectedOutput& want) {
  if (truth.dtype != want.dtype || truth.shape != want.shape) return "another dtype or shape";
  tensor::HostTensor values = must(tensor::make_tensor(want.dtype, want.shape));
  if (const auto laid = ops::overlay(want, values); !laid) return laid.error().message;
  verify::CompareOptions options;
  options.precision.flush = true;
  options.precision.nan = task::NanPolicy::Propagate;
  const verify::Comparison comparison = verify::compare(loosened(truth), values, options);
  if (comparison.pass) return "";
  if (!comparison.summary.worst) return comparison.reason;
  const record::Worst& worst = *comparison.summary.worst;
  return fmt::format("{} ({}: PyTorch {}, truth {}, z {})", comparison.reason,
                     verify::element_text(worst), worst.got, worst.want, worst.z);
}

/// "" when every gradient is PyTorch's.
std::string check(const ops::Case& one, const Graph& forward, const ops::Expected& expected) {
  const std::vector<std::string> have = graph::differentiable_inputs(forward);
  if (have.empty()) return "no gradients, but PyTorch has some";
  const Result<Graph> backward = graph::backward(forward);
  if (!backward) return backward.error().message;
  oracle::Interpreter interpreter;
  exec::TruthOptions options;
  options.threads = 1;
  options.flush = true;
  const auto truths = interpreter.truth(*backward, inputs_for(one, *backward), options);
  if (!truths) return "no truth: " + truths.error().message;
  size_t at = 0;
  for (const ops::InputSpec& spec : one.inputs) {
    const bool computed = spec.dtype == tensor::DType::Fp64 || spec.dtype == tensor::DType::Fp32 ||
                          spec.dtype == tensor::DType::Fp16 || spec.dtype == tensor::DType::Bf16;
    if (!computed) continue;
    if (at >= expected.outputs.size()) return "fewer gradients from PyTorch";
    const ops::ExpectedOutput& want = expected.outputs[at++];
    for (const exec::Truth& truth : *truths) {
      if (truth.name != graph::gradient_name(spec.name)) continue;
      const std::string wrong = judge(truth, want);
      if (!wrong.empty()) return truth.name + ": " + wrong + "\n" + graph::print(*backward);
    }
  }
  return "";
}

TEST(TorchAutograd, AgreesOnTheOpTable) {
  const oracle::FoundPython python = oracle::find_torch_python();
  if (python.path.empty()) GTEST_SKIP() << "no Python with PyTorch";
  const fs::path out = fs::path(testing::TempDir()) / "kw_autograd.txt";
  const bool all = std::getenv("KW_TORCH_ALL") != nullptr;
  os::ProcessLimits limits;
  limits.timeout_seconds = 500;
  const auto ran = must(
      os::run_process({python.path, "-B", (fs::path(KW_DERIVE_DIR) / "run_autograd.py").string(),
                       KW_OPS_DIR, out.string(), all ? "1" : kSampled},
                      {}, limits));
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  std::ostringstream text;
  text << std::ifstream(out).rdbuf();
  fs::remove(out);
  const auto expected = must(ops::parse_expected(text.str()));
  int checked = 0, refused = 0;
  for (const std::string& table : table_names()) {
    for_graphs(cases_of(table, ""), [&](const ops::Case& one, const Graph& forward) {
      const auto found = expected.find(one.name);
      if (found == expected.end()) return;
      if (found->second.refused) {
        ++refused;
        return;
      }
      ++checked;
      const std::string wrong = check(one, forward, found->second);
      if (!wrong.empty()) ADD_FAILURE() << one.name << ": " << one.expression << "\n" << wrong;
    });
  }
  RecordProperty("checked", checked);
  EXPECT_GT(checked, all ? 700 : 100);
  EXPECT_LT(refused, checked);
}

}  // namespace
}  // namespace kw::derive
