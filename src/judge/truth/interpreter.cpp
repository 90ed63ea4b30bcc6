#include "truth/interpreter.h"

#include <cmath>

#include "truth/graph_pass.h"
#include "truth/output.h"

namespace kw::truth {

using ports::Truth;
using ports::TruthOptions;
using tensor::HostTensor;

Result<std::vector<Truth>> Interpreter::truth(const graph::Graph& graph,
                                              const std::vector<HostTensor>& inputs,
                                              const TruthOptions& options) {
  Run run(graph, inputs, options, Mode::Truth);
  const std::vector<ScoreSource> scores = score_sources(graph);
  for (const ScoreSource& score : scores) {
    if (score.node >= 0) run.keep(score.node);
  }
  KW_TRY(run.compute());
  std::vector<Truth> truths = KW_TRY(collect_truths(run, graph, scores));
  if (run.sums_half_errors()) {
    Run rounded(graph, inputs, options, Mode::HalfOnly);
    KW_TRY(rounded.compute());
    KW_TRY(widen_by_half(rounded, graph, truths));
  }
  if (!run.out_of_range()) return truths;
  const std::vector<HostTensor> declared = KW_TRY(op_by_op(graph, inputs, options));
  for (size_t k = 0; k < truths.size(); ++k)
    mark_overflow(declared[k], thread_count(options), truths[k]);
  return truths;
}

Result<std::vector<HostTensor>> Interpreter::op_by_op(const graph::Graph& graph,
                                                      const std::vector<HostTensor>& inputs,
                                                      const TruthOptions& options) {
  Run run(graph, inputs, options, Mode::Declared);
  KW_TRY(run.compute());
  return collect_declared(run, graph);
}

}  // namespace kw::truth
