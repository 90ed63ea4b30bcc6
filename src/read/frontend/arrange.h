// Gives a traced graph its final inputs: named, ordered, without those that no output needs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace kw::frontend {

/// One flag per node: whether an output depends on it.
std::vector<bool> needed_by_outputs(const graph::Graph& graph);
/// The graph with exactly these inputs, in this order. The caller must list every Input node that
/// an output needs. Nodes that no output needs are left out.
graph::Graph arrange(const graph::Graph& graph,
                     const std::vector<std::pair<graph::NodeId, std::string>>& inputs);

}  // namespace kw::frontend
