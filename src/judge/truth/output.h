// Converts the values of output nodes into the types of the oracle port.
#pragma once

#include <optional>
#include <vector>

#include "ports/oracle.h"
#include "truth/graph_pass.h"

namespace kw::truth {

/// For an output that holds indices: the scores that they rank.
struct ScoreSource {
  graph::NodeId node = -1;                // the ranked node; -1: the output holds no indices
  graph::NodeId index = -1;               // the op that computed the indices
  std::vector<const graph::Node*> moves;  // view ops from the index to the output, in order
  bool nan_first = false;                 // a NaN replaces the ranked result
};
std::vector<ScoreSource> score_sources(const graph::Graph& graph);

/// Not set when ops between the index and the output prevent following the scores.
Result<std::optional<ports::Scores>> make_scores(Run& run, const graph::Graph& graph,
                                                 const ScoreSource& source);

/// Converts an output node's value to a Truth.
ports::Truth to_truth(Tensor value, const std::string& name, const NodeFacts& facts, int threads);

Result<std::vector<ports::Truth>> collect_truths(Run& run, const graph::Graph& graph,
                                                 const std::vector<ScoreSource>& scores);
Result<std::vector<tensor::HostTensor>> collect_declared(Run& run, const graph::Graph& graph);

/// Widens h to the effect of the half roundings alone; `rounded` is a HalfOnly run of the same
/// graph.
Status widen_by_half(Run& rounded, const graph::Graph& graph, std::vector<ports::Truth>& truths);

/// Widens h of `other`, the same output computed with overflow, like that of `truth`.
void share_half_errors(const ports::Truth& truth, ports::Truth& other);

}  // namespace kw::truth
