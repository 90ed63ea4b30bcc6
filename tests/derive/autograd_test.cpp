// Gradients against torch.autograd: every float case of the op table, with drawn upstream
// gradients, within the propagated bound. A sample; all with KW_TORCH_ALL=1.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "expected.h"
#include "graph/derive.h"
#include "graph/promote.h"
#include "metric/metric.h"
#include "os/process.h"
#include "ports/bound.h"
#include "table_cases.h"
#include "tensor/convert.h"
#include "torch_worker/torch_python.h"
#include "truth/interpreter.h"

namespace kw::derive {
namespace {

namespace fs = std::filesystem;
using graph::Graph;

constexpr const char* kSampled = "7";  // each n-th case

/// What PyTorch's autograd does in another way, and why that is no error of ours.
const std::map<std::string, const char*> kOtherwise = {
    {"aten_native_layer_norm", "gradients of mean and rstd do not count there"},
    {"aten_native_layer_norm_plain", "the same"},
    {"aten_batch_norm_no_stats", "the same"},
    {"bce_edge", "1e-12 instead of the logarithm's clamp, at probabilities of 0 and 1"},
    {"digamma", "trigamma in fp64 is good to nine digits"},
    {"edges_digamma", "the same"},
    {"entr", "not zero at 0 and below"},
    {"kl_div_zero", "NaN by a target of 0"},
    {"edges_pow", "exponents are rounded before they are used"},
    {"ldexp", "2^y underflows before it is multiplied"},
    {"edges_hardsigmoid", "a sixth in fp32, whatever the dtype"},
    {"edges_lgamma", "digamma within 1e-30 of its pole"},
    {"fake_quantize", "gradients pass straight through the rounding; here it is a step"},
    {"topk_values_ties", "equals in any order"},
    {"kthvalue_ties", "the same"},
};

bool is_edge(const ops::Case& one) {
  return std::any_of(one.inputs.begin(), one.inputs.end(), [](const ops::InputSpec& spec) {
    return spec.family != "normal" && spec.family != "positive" && spec.family != "unit" &&
           spec.family != "prob";
  });
}

/// PyTorch's CPU kernels round half types between steps where its CUDA kernels do not, and the
/// truth itself is fp64.
ports::Truth loosened(const ports::Truth& truth) {
  const double unit = ports::unit_roundoff(truth.dtype);
  ports::Truth loose = truth;
  loose.exact = false;
  if (truth.dtype == tensor::DType::Fp64) {
    loose.a.resize(loose.value.size());
    for (size_t i = 0; i < loose.a.size(); ++i)
      loose.a[i] += static_cast<float>(1e-14 + 1e-14 * std::abs(loose.value[i]));
  }
  if (unit <= ports::unit_roundoff(tensor::DType::Fp32)) return loose;
  loose.h.resize(loose.value.size());
  for (size_t i = 0; i < loose.h.size(); ++i)
    loose.h[i] += static_cast<float>(unit * (8 + 4 * std::abs(loose.value[i])));
  return loose;
}

/// At the ends of the formats and beyond, formulas that mean the same give different infinities
/// and NaN: only numbers count there.
void skip_infinities(ports::Truth& truth, tensor::HostTensor& values) {
  std::vector<double> got(static_cast<size_t>(tensor::value_count(values)));
  tensor::load_values(values, 0, got);
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isfinite(got[i]) && std::isfinite(truth.value[i])) continue;
    got[i] = truth.value[i] = 0;
  }
  tensor::store_floats(values, 0, got);
}

std::string judge(ports::Truth truth, const ops::ExpectedOutput& want, const tensor::HostTensor& by,
                  bool edge) {
  if (truth.dtype != want.dtype || truth.shape != want.shape) return "another dtype or shape";
  tensor::HostTensor values = must(tensor::make_tensor(want.dtype, want.shape));
  if (const auto laid = ops::overlay(want, values); !laid) return laid.error().message;
  if (edge) {
    std::vector<double> at(truth.value.size());
    tensor::load_values(by, 0, at);
    for (size_t i = 0; i < at.size(); ++i) {
      if (!std::isfinite(at[i])) truth.value[i] = std::numeric_limits<double>::infinity();
    }
    skip_infinities(truth, values);
  }
  metric::CompareOptions options;
  options.precision.flush = true;
  const metric::Comparison comparison = metric::compare(loosened(truth), values, options);
  if (comparison.pass) return "";
  if (!comparison.summary.worst) return comparison.reason;
  const record::Worst& worst = *comparison.summary.worst;
  return fmt::format("{} ({}: PyTorch {}, truth {}, z {})", comparison.reason,
                     metric::element_text(worst), worst.got, worst.want, worst.z);
}

bool all_zero(const ops::ExpectedOutput& want) {
  const uint64_t sign = uint64_t{1} << (tensor::dtype_size(want.dtype) * 8 - 1);
  return std::all_of(want.words.begin(), want.words.end(),
                     [&](uint64_t word) { return (word & ~sign) == 0; });
}

bool is_computed(tensor::DType type) {
  return tensor::is_float(type) && !graph::is_storage_only(type);
}

/// "" when every gradient is PyTorch's; one that we have not must be 0 there.
std::string check(const ops::Case& one, const Graph& forward, const ops::Expected& expected) {
  std::vector<ports::Truth> truths;
  Graph backward;
  if (!graph::differentiable_inputs(forward).empty()) {
    Result<Graph> made = graph::backward(forward);
    if (!made) return made.error().message;
    backward = std::move(*made);
    truth::Interpreter interpreter;
    ports::TruthOptions options;
    options.threads = 1;
    options.flush = true;
    auto values = interpreter.truth(backward, inputs_for(one, backward), options);
    if (!values) return "no truth: " + values.error().message;
    truths = std::move(*values);
  }
  size_t at = 0;
  for (const ops::InputSpec& spec : one.inputs) {
    if (!is_computed(spec.dtype)) continue;
    if (at >= expected.outputs.size()) return "fewer gradients from PyTorch";
    const ops::ExpectedOutput& want = expected.outputs[at++];
    const auto truth = std::find_if(truths.begin(), truths.end(), [&](const ports::Truth& mine) {
      return mine.name == graph::gradient_name(spec.name);
    });
    if (truth == truths.end() && !all_zero(want)) return "no gradient by " + spec.name;
    if (truth == truths.end()) continue;
    const std::string wrong = judge(*truth, want, must(ops::make_input(one, spec)), is_edge(one));
    if (!wrong.empty()) return truth->name + ": " + wrong + "\n" + graph::print(backward);
  }
  return "";
}

TEST(TorchAutograd, AgreesOnTheOpTable) {
  const torch_worker::FoundPython python = torch_worker::find_torch_python();
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
      if (found == expected.end() || kOtherwise.count(one.name.substr(0, one.name.find('.'))))
        return;
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
