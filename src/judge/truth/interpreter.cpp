#include "truth/interpreter.h"

#include <algorithm>
#include <memory>

#include "tensor/convert.h"
#include "truth/graph_pass.h"
#include "truth/output.h"
#include "truth/overflow.h"
#include "truth/wide_run.h"

namespace kw::truth {

using ports::Truth;
using ports::TruthOptions;
using tensor::HostTensor;

namespace {

/// One computation of a graph.
struct Inputs {
  const graph::Graph& graph;
  const std::vector<HostTensor>& inputs;
  const TruthOptions& options;
  const std::vector<ScoreSource> scores;
};

Status compute(Run& run, const Inputs& from) {
  for (const ScoreSource& score : from.scores) {
    if (score.node >= 0) run.keep(score.node);
  }
  return run.compute();
}

void take_integers(const HostTensor& declared, Truth& truth) {
  const auto lanes = std::make_unique<VectorLanes>();
  const View place = coalesced(dense_view(truth.shape));
  const auto all = static_cast<int64_t>(truth.integers.size());
  for (int64_t at = 0; at < all; at += kChunk) {
    const int count = static_cast<int>(std::min<int64_t>(kChunk, all - at));
    load(declared, place, at, count, *lanes);
    std::copy_n(lanes->i, count, truth.integers.begin() + at);
  }
}

/// Replaces the values of `truths` by those of a run that rounds as declared. Indices stay: their
/// scores say which ones are right.
void take_values(const std::vector<HostTensor>& declared, std::vector<Truth>& truths) {
  for (size_t k = 0; k < truths.size(); ++k) {
    Truth& truth = truths[k];
    if (tensor::is_float(truth.dtype))
      tensor::load_values(declared[k], 0, {truth.value.data(), truth.value.size()});
    if (!truth.integers.empty() && !truth.scores) take_integers(declared[k], truth);
  }
}

/// Adds the results of all ways to overflow, and of the op-by-op run.
Status add_overflow(const Inputs& from, const std::vector<OverflowCase>& cases,
                    const std::vector<HostTensor>& declared, std::vector<Truth>& truths) {
  const int threads = thread_count(from.options);
  const bool flush = from.options.flush;
  std::vector<Truth> others;
  for (const OverflowCase& one : cases) {
    Run run(from.graph, from.inputs, from.options, Mode::Truth, &one);
    KW_TRY(compute(run, from));
    others = KW_TRY(collect_truths(run, from.graph, from.scores));
    for (size_t k = 0; k < truths.size(); ++k) share_half_errors(truths[k], others[k]);
    add_alternatives(others, Computed::Overflowing, flush, threads, truths);
  }
  // The bounds of the last case belong to the op-by-op run.
  if (others.empty()) others = truths;
  take_values(declared, others);
  const Computed how = cases.empty() ? Computed::AtPoles : Computed::OpByOp;
  add_alternatives(others, how, flush, threads, truths);
  return Done{};
}

}  // namespace

Result<std::vector<Truth>> Interpreter::truth(const graph::Graph& graph,
                                              const std::vector<HostTensor>& inputs,
                                              const TruthOptions& options) {
  const Inputs from{graph, inputs, options, score_sources(graph)};
  Run run(graph, inputs, options, Mode::Truth);
  KW_TRY(compute(run, from));
  std::vector<Truth> truths = KW_TRY(collect_truths(run, graph, from.scores));
  if (run.needs_half_pass()) {
    Run rounded(graph, inputs, options, Mode::HalfOnly);
    KW_TRY(rounded.compute());
    KW_TRY(widen_by_half(rounded, graph, truths));
  }
  const Findings& found = run.findings();
  const std::vector<OverflowCase> cases = overflow_cases(graph, found);
  if (cases.empty() && !found.unbounded) return truths;
  widen_range(graph, inputs, options, truths);
  const std::vector<HostTensor> declared = KW_TRY(op_by_op(graph, inputs, options));
  KW_TRY(add_overflow(from, cases, declared, truths));
  return truths;
}

Status Interpreter::settle_poles(const graph::Graph& graph, const std::vector<HostTensor>& inputs,
                                 const TruthOptions& options, std::vector<Truth>& truths) {
  widen_range(graph, inputs, options, truths);
  const std::vector<HostTensor> declared = KW_TRY(op_by_op(graph, inputs, options));
  return add_overflow({graph, inputs, options, {}}, {}, declared, truths);
}

Result<std::vector<HostTensor>> Interpreter::op_by_op(const graph::Graph& graph,
                                                      const std::vector<HostTensor>& inputs,
                                                      const TruthOptions& options) {
  Run run(graph, inputs, options, Mode::Declared);
  KW_TRY(run.compute());
  return collect_declared(run, graph);
}

}  // namespace kw::truth
