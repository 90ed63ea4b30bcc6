#include "gate/plain_error.h"

#include <algorithm>
#include <cmath>

#include "core/contains.h"
#include "metric/metric.h"
#include "ports/bound.h"

namespace kw::gate {

namespace {

using graph::Op;
using tensor::DType;

constexpr double kManyTerms = 512;
// One evaluation can be precise by luck, if all elements share one error.
constexpr int kOrders = 4;
constexpr double kOwnRoundings = 8;  // of other ops, in units of the result
// Tensor cores cut sums towards zero. That adds up with the number of terms, where other roundings
// add up with its root.
constexpr double kCutTerms = 65536;

double terms_of(const graph::Graph& graph, const graph::Node& node) {
  const graph::Shape& shape = graph[node.inputs[0]].shape;
  if (node.op == Op::MatMul) return static_cast<double>(shape.back().value());
  double terms = 1;
  for (const int dim : node.attrs.dims)
    terms *= static_cast<double>(shape[static_cast<size_t>(dim)].value());
  return terms;
}

double most_terms(const graph::Graph& graph) {
  double most = 0;
  for (const graph::Node& node : graph.nodes) {
    const bool sums = node.op == Op::Sum || node.op == Op::MatMul;
    if (sums && tensor::is_float(node.dtype)) most = std::max(most, terms_of(graph, node));
  }
  return most;
}

/// The rms of z that a few roundings of the results have.
double rounding_z(const ports::Truth& truth, bool flush) {
  const ports::ElementBound bound(truth, flush);
  const double unit = ports::bound_constants().unit;
  double squares = 0;
  for (size_t i = 0; i < truth.value.size(); ++i) {
    const double z = kOwnRoundings * unit * std::fabs(truth.value[i]) / bound.at(i);
    if (std::isfinite(z)) squares += z * z;
  }
  return std::sqrt(squares / static_cast<double>(std::max<size_t>(truth.value.size(), 1)));
}

metric::CompareOptions without_tolerance(const task::Task& task,
                                         const ports::TruthOptions& options) {
  metric::CompareOptions compare;
  compare.precision = task.precision;
  compare.precision.atol = compare.precision.rtol = std::nullopt;
  compare.threads = options.threads;
  return compare;
}

}  // namespace

bool has_plain_error(const task::Task& task, const graph::Graph& graph, const std::string& family) {
  static const std::vector<std::string> kUnordered = {"normal", "uniform", "scaled_weights"};
  if (task.precision.allow_tf32 || !contains(kUnordered, family)) return false;
  const bool only_fp32 = std::ranges::all_of(graph.nodes, [](const graph::Node& node) {
    return !tensor::is_float(node.dtype) || node.dtype == DType::Fp32;
  });
  return only_fp32 && most_terms(graph) >= kManyTerms;
}

Status add_plain_error(ports::Oracle& oracle, const task::Task& task, const graph::Graph& graph,
                       const std::vector<tensor::HostTensor>& inputs, ports::TruthOptions options,
                       std::vector<ports::Truth>& truths) {
  const metric::CompareOptions compare = without_tolerance(task, options);
  std::vector<double> squares(truths.size(), 0);
  for (options.serial = 1; options.serial <= kOrders; ++options.serial) {
    const auto plain = KW_TRY(oracle.op_by_op(graph, inputs, options));
    for (size_t i = 0; i < truths.size(); ++i) {
      const double z = metric::compare(truths[i], plain[i], compare).summary.rms_z;
      squares[i] += z * z / kOrders;
    }
  }
  const double cut = std::max(1.0, std::sqrt(most_terms(graph) / kCutTerms));
  for (size_t i = 0; i < truths.size(); ++i) {
    if (truths[i].dtype != DType::Fp32 || truths[i].exact) continue;
    const double z = std::sqrt(squares[i]) + rounding_z(truths[i], task.precision.flush);
    truths[i].plain_z = z * cut;
  }
  return Done{};
}

bool has_tolerance(const task::Task& task) {
  return task.precision.atol || task.precision.rtol;
}

Status add_largest_plain_error(ports::Oracle& oracle, const task::Task& task,
                               const graph::Graph& graph,
                               const std::vector<tensor::HostTensor>& inputs,
                               ports::TruthOptions options, std::vector<ports::Truth>& truths) {
  const metric::CompareOptions compare = without_tolerance(task, options);
  for (options.serial = 0; options.serial < kOrders; ++options.serial) {
    const auto plain = KW_TRY(oracle.op_by_op(graph, inputs, options));
    for (size_t i = 0; i < truths.size(); ++i) {
      const double z = metric::compare(truths[i], plain[i], compare).summary.max_z;
      if (std::isfinite(z)) truths[i].plain_max_z = std::max(truths[i].plain_max_z, z);
    }
  }
  return Done{};
}

}  // namespace kw::gate
