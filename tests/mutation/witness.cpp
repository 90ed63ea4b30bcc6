// A mutant that passes the gate and differs from its original is either a hole in the gate or a
// legal rounding. The second opinion decides: a value in long double by plain loops. Errors are
// measured in units of the bound B, so that elements of all sizes compare. Legal is what lies
// within B everywhere and whose worst error is at most four times the larger of the original's and
// of the op-by-op run's, where one rounding of the output is always granted.
#include "witness.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "metric/metric.h"
#include "ports/bound.h"
#include "second_opinion.h"
#include "shapes/shapes.h"

namespace kw::mutation {

namespace {

using Kind = WitnessVerdict::Kind;

constexpr double kAsPrecise = 4;
constexpr double kDispute = 0.25;  // of B

/// The worst errors of one output, in units of B.
struct Errors {
  double mutant = 0, original = 0, op_by_op = 0, rounding = 0, oracle = 0;
};

double distance(double value, long double truth, double bound) {
  if (!std::isfinite(value) || !std::isfinite(static_cast<double>(truth)))
    return 0;  // classes are the metric's
  return bound > 0 ? static_cast<double>(std::fabs(value - truth)) / bound
         : value == static_cast<double>(truth) ? 0
                                               : HUGE_VAL;
}

Errors errors_of(const Witness& witness, size_t output, const ports::Truth& truth,
                 const WideTensor& wide, const WideTensor& rounded, bool flush) {
  const ports::ElementBound bounds(truth, flush);
  Errors worst;
  for (size_t i = 0; i < wide.value.size(); ++i) {
    const double bound = bounds.at(i);
    if (!std::isfinite(bound)) continue;
    const auto at = static_cast<int64_t>(i);
    const long double t = wide.value[i];
    worst.mutant = std::max(worst.mutant,
                            distance(tensor::get_element(witness.outputs[output], at), t, bound));
    worst.original = std::max(
        worst.original, distance(tensor::get_element(witness.cell->outputs[output], at), t, bound));
    worst.op_by_op =
        std::max(worst.op_by_op, distance(static_cast<double>(rounded.value[i]), t, bound));
    worst.oracle = std::max(worst.oracle, distance(truth.value[i], t, bound));
    if (bound > 0 && std::isfinite(static_cast<double>(t)))
      worst.rounding = std::max(
          worst.rounding, (bounds.unit * std::fabs(static_cast<double>(t)) + bounds.step) / bound);
  }
  return worst;
}

std::string where(const Witness& witness) { return task::dims_text(witness.cell->shape->dims); }

}  // namespace

WitnessVerdict judge_witness(const Witness& witness, const task::Task& task,
                             ports::Oracle& oracle) {
  if (!witness.failure.empty())
    return {Kind::Wrong, fmt::format("{}: {}", where(witness), witness.failure)};
  const graph::Graph& graph = witness.cell->shape->graph;
  ports::TruthOptions options;
  options.threads = 1;
  options.allow_tf32 = task.precision.allow_tf32;
  options.flush = task.precision.flush;
  const auto truths = oracle.truth(graph, witness.cell->inputs, options);
  if (!truths) return {Kind::Undecided, truths.error().message};
  const auto wide = second_opinion(graph, witness.cell->inputs);
  if (!wide) return {Kind::Undecided, wide.error().message};
  const auto rounded = rounded_opinion(graph, witness.cell->inputs);
  if (!rounded) return {Kind::Undecided, rounded.error().message};
  WitnessVerdict legal{Kind::Ties, "ties that the contract leaves open"};
  for (size_t i = 0; i < truths->size(); ++i) {
    const ports::Truth& truth = (*truths)[i];
    metric::CompareOptions compare;
    compare.precision = task.precision;
    compare.threads = 1;
    compare.moves_only = gate::moves_only(graph, graph.outputs[i].node);
    const metric::Comparison judged = metric::compare(truth, witness.outputs[i], compare);
    if (!judged.pass) return {Kind::Wrong, fmt::format("{}: {}", where(witness), judged.reason)};
    if (!tensor::is_float(truth.dtype)) continue;
    const Errors worst = errors_of(witness, i, truth, (*wide)[i], (*rounded)[i], options.flush);
    if (worst.oracle > kDispute)
      return {Kind::Disputed, fmt::format("{}: the oracle is {:.3g} B from the second opinion",
                                          where(witness), worst.oracle)};
    const double allowed = kAsPrecise * std::max({worst.original, worst.op_by_op, worst.rounding});
    if (worst.mutant > allowed)
      return {Kind::Wrong,
              fmt::format("{}: within the bound, but {:.3g} B off where the original is {:.3g} and "
                          "op by op {:.3g}",
                          where(witness), worst.mutant, worst.original, worst.op_by_op)};
    if (witness.outputs[i].data == witness.cell->outputs[i].data) continue;
    legal = {Kind::Rounding,
             fmt::format("{}: {:.3g} B off, the original {:.3g}, op by op {:.3g}", where(witness),
                         worst.mutant, worst.original, worst.op_by_op)};
  }
  return legal;
}

}  // namespace kw::mutation
