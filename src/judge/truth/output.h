// From the values of output nodes to what the port promises.
#pragma once

#include <optional>
#include <vector>

#include "ports/oracle.h"
#include "truth/run.h"

namespace kw::truth {

/// For an output that is an index into something: whose scores it ranks.
struct ScoreSource {
  graph::NodeId node = -1;                // what was ranked; -1: the output is no index
  graph::NodeId index = -1;               // the op that ranked it
  std::vector<const graph::Node*> moves;  // view ops from the index to the output, in order
  bool nan_first = false;                 // a NaN takes the place of what was ranked
};
std::vector<ScoreSource> score_sources(const graph::Graph& graph);

/// Nothing when the output is too far from the index for its scores to follow.
Result<std::optional<ports::Scores>> make_scores(Run& run, const graph::Graph& graph,
                                                 const ScoreSource& source);

/// An output node's value as the port gives it.
ports::Truth to_truth(Tensor value, const std::string& name, const NodeFacts& facts, int threads);

Result<std::vector<ports::Truth>> collect_truths(Run& run, const graph::Graph& graph,
                                                 const std::vector<ScoreSource>& scores);
Result<std::vector<tensor::HostTensor>> collect_declared(Run& run, const graph::Graph& graph);

/// Widens h to what the declared half roundings alone do; `rounded` is parallel to the truths.
Status widen_by_half(Run& rounded, const graph::Graph& graph, std::vector<ports::Truth>& truths);

/// Where one of `declared` and the rounded truth is infinite or NaN and the other is not, or is it
/// otherwise.
void mark_overflow(const tensor::HostTensor& declared, int threads, ports::Truth& truth);

}  // namespace kw::truth
