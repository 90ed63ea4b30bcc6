// Gradients against central differences of the oracle's fp64 values, along one random direction:
// every case of the op table in fp64, and the primitives the table does not reach.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/builder.h"
#include "graph/derive.h"
#include "table_cases.h"
#include "tensor/convert.h"
#include "truth/interpreter.h"

namespace kw::derive {
namespace {

using graph::Builder;
using graph::Graph;
using graph::NodeId;
using graph::Op;
using tensor::DType;
using tensor::HostTensor;

std::vector<double> values_of(const HostTensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor::value_count(tensor)));
  tensor::load_values(tensor, 0, values);
  return values;
}

std::vector<ports::Truth> evaluate(const Graph& graph, const std::vector<HostTensor>& inputs) {
  ports::TruthOptions options;
  options.threads = 1;
  truth::Interpreter interpreter;
  return must(interpreter.truth(graph, inputs, options));
}

const HostTensor& named(const Graph& graph, const std::vector<HostTensor>& tensors,
                        const std::string& name) {
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    if (graph.inputs[i].name == name) return tensors[i];
  }
  throw std::runtime_error("no input " + name);
}

/// A number in (-1, 1) for each element.
double direction(size_t tensor, size_t element) {
  uint64_t h = (tensor + 1) * 0x9E3779B97F4A7C15u + element * 0xBF58476D1CE4E5B9u;
  h ^= h >> 29;
  h *= 0x94D049BB133111EBu;
  return static_cast<double>(h >> 12) * 0x1p-51 - 1;
}

class Differences {
 public:
  Differences(const Graph& forward, const Graph& backward, std::vector<HostTensor> all)
      : forward_(forward), backward_(backward), all_(std::move(all)) {}

  /// "" or how they differ.
  std::string run(const std::vector<HostTensor>& inputs) {
    double along = 0, size = 1e-9;
    const std::vector<ports::Truth> gradients = evaluate(backward_, all_);
    std::vector<HostTensor> up = inputs, down = inputs;
    size_t next = 0;
    for (size_t i = 0; i < forward_.inputs.size(); ++i) {
      const bool asked = next < gradients.size() &&
                         gradients[next].name == graph::gradient_name(forward_.inputs[i].name);
      if (!asked) continue;
      const ports::Truth& gradient = gradients[next++];
      std::vector<double> higher = values_of(inputs[i]), lower = higher;
      for (size_t k = 0; k < higher.size(); ++k) {
        const double step = kStep * direction(i, k);
        along += gradient.value[k] * direction(i, k);
        size += std::fabs(gradient.value[k] * direction(i, k));
        higher[k] += step;
        lower[k] -= step;
      }
      tensor::store_floats(up[i], 0, higher);
      tensor::store_floats(down[i], 0, lower);
    }
    if (next != gradients.size()) return "a gradient has no input";
    if (!std::isfinite(along)) return "";
    const double measured = (weighted(up, size) - weighted(down, size)) / (2 * kStep);
    if (!std::isfinite(measured)) return "";
    const double far = std::fabs(measured - along);
    if (far <= 2e-5 * size) return "";
    return fmt::format("{} along a direction, but differences give {} (terms of size {})", along,
                       measured, size);
  }

 private:
  static constexpr double kStep = 1e-6;

  /// The outputs weighted by the upstream gradients; `size` grows to the terms' rounding.
  double weighted(const std::vector<HostTensor>& inputs, double& size) {
    double total = 0, terms = 0;
    for (const ports::Truth& output : evaluate(forward_, inputs)) {
      const std::string name = graph::gradient_name(output.name);
      bool seeded = false;
      for (const auto& input : backward_.inputs) seeded = seeded || input.name == name;
      if (!seeded) continue;
      const std::vector<double> weights = values_of(named(backward_, all_, name));
      for (size_t k = 0; k < weights.size(); ++k) {
        total += weights[k] * output.value[k];
        terms += std::fabs(weights[k] * output.value[k]);
      }
    }
    size = std::max(size, terms * 1e-5);
    return total;
  }

  const Graph& forward_;
  const Graph& backward_;
  std::vector<HostTensor> all_;
};

// Families without ties, kinks or numbers too large for a step of 1e-6.
bool is_smooth(const ops::Case& one) {
  // Its clamp is not differentiated, in PyTorch neither.
  if (one.expression.find("gaussian_nll_loss") != std::string::npos) return false;
  for (const ops::InputSpec& spec : one.inputs) {
    if (!tensor::is_float(spec.dtype)) continue;
    const std::string& family = spec.family;
    if (spec.dtype != DType::Fp64) return false;
    if (family != "normal" && family != "positive" && family != "unit" && family != "prob")
      return false;
  }
  return true;
}

class FiniteTable : public testing::TestWithParam<std::string> {};

TEST_P(FiniteTable, Agrees) {
  int checked = 0;
  for_graphs(cases_of(GetParam(), "fp64"), [&](const ops::Case& one, const Graph& forward) {
    if (!is_smooth(one) || graph::differentiable_inputs(forward).empty()) return;
    const Result<Graph> backward = graph::backward(forward);
    if (!backward) {
      ADD_FAILURE() << one.name << ": " << backward.error().message;
      return;
    }
    std::vector<HostTensor> inputs;
    for (const ops::InputSpec& spec : one.inputs)
      inputs.push_back(must(ops::make_input(one, spec)));
    const std::string wrong =
        Differences(forward, *backward, inputs_for(one, *backward)).run(inputs);
    if (!wrong.empty())
      ADD_FAILURE() << one.name << ": " << one.expression << "\n"
                    << wrong << "\n"
                    << graph::print(forward) << "\n"
                    << graph::print(*backward);
    ++checked;
  });
  EXPECT_GT(checked, 0);
}

INSTANTIATE_TEST_SUITE_P(Ops, FiniteTable, testing::ValuesIn(table_names()),
                         [](const auto& row) { return row.param; });

struct Primitive {
  const char* name;
  Result<NodeId> (*make)(Builder&, NodeId);  // of an fp64 [3, 8]
};

Result<NodeId> windowed(Builder& b, NodeId x, int64_t count, int64_t size, int64_t stride,
                        int64_t dilation) {
  graph::Node node{Op::Window, {x}, DType::Fp64, {3, count, size}, {}, "", 0, 0};
  node.attrs.dims = {1};
  node.attrs.steps = {stride, dilation};
  return b.add(std::move(node));
}

Result<NodeId> folded(Builder& b, NodeId x, int64_t stride, int64_t dilation) {
  const NodeId rows = KW_TRY(b.reshape(x, {3, 4, 2}));
  graph::Node node{Op::Fold, {rows}, DType::Fp64, {3, 12}, {}, "", 0, 0};
  node.attrs.dims = {1};
  node.attrs.steps = {stride, dilation};
  return b.add(std::move(node));
}

const Primitive kPrimitives[] = {
    {"window", [](Builder& b, NodeId x) { return windowed(b, x, 3, 3, 2, 1); }},
    {"window_gaps", [](Builder& b, NodeId x) { return windowed(b, x, 2, 2, 4, 2); }},
    {"fold", [](Builder& b, NodeId x) { return folded(b, x, 1, 2); }},
    {"fold_stride", [](Builder& b, NodeId x) { return folded(b, x, 3, 2); }},
    {"slice_steps", [](Builder& b, NodeId x) { return b.slice(x, 1, 1, 8, 3); }},
    {"cum_sum_reverse", [](Builder& b, NodeId x) { return b.scan(Op::CumSum, x, 1, true, true); }},
    {"cum_prod_exclusive",
     [](Builder& b, NodeId x) { return b.scan(Op::CumProd, x, 1, false, true); }},
    {"cum_prod_reverse",
     [](Builder& b, NodeId x) { return b.scan(Op::CumProd, x, 0, true, false); }},
    {"cum_log_sum_exp_reverse",
     [](Builder& b, NodeId x) { return b.scan(Op::CumLogSumExp, x, 1, true); }},
    {"prod_of_two_dims", [](Builder& b, NodeId x) { return b.reduce(Op::Prod, x, {}, false); }},
    {"max_of_two_dims",
     [](Builder& b, NodeId x) {
       return b.reduce(Op::Max, x, {0, 1}, true);
     }},
    {"digamma_twice",
     [](Builder& b, NodeId x) -> Result<NodeId> {
       const NodeId y = KW_TRY(b.unary(Op::Lgamma, x));
       const NodeId z = KW_TRY(b.unary(Op::Digamma, x));
       return b.binary(Op::Mul, graph::Operand::tensor(y), graph::Operand::tensor(z));
     }},
    {"expand_to_matrices",
     [](Builder& b, NodeId x) -> Result<NodeId> {
       const NodeId many = KW_TRY(b.expand(x, {5, 3, 8}));
       const NodeId turned = KW_TRY(b.permute(many, {0, 2, 1}));
       const NodeId gram = KW_TRY(b.matmul(turned, many));
       return b.unary(Op::Tanh, gram);
     }},
};

class FinitePrimitive : public testing::TestWithParam<Primitive> {};

TEST_P(FinitePrimitive, Agrees) {
  Builder b;
  const NodeId x = b.input("x", DType::Fp64, {3, 8});
  const NodeId y = must(GetParam().make(b, x));
  const Graph forward = std::move(b).finish({{"y", y}});
  const Graph backward = must(graph::backward(forward));
  ops::Case one;
  one.name = GetParam().name;
  one.inputs = {{"x", "normal", DType::Fp64, {3, 8}}};
  const std::vector<HostTensor> inputs = {must(ops::make_input(one, one.inputs[0]))};
  EXPECT_EQ(Differences(forward, backward, inputs_for(one, backward)).run(inputs), "")
      << graph::print(backward);
}

INSTANTIATE_TEST_SUITE_P(Ops, FinitePrimitive, testing::ValuesIn(kPrimitives),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace kw::derive
