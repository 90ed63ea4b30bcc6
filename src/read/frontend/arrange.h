// Gives a traced graph its final inputs: named, ordered, without those nothing needs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace kw::frontend {

/// Which nodes the outputs depend on.
std::vector<bool> needed_by_outputs(const graph::Graph& graph);
/// The graph with exactly these inputs, in this order; every Input node the outputs need must be
/// among them. Nodes nobody needs are left out.
graph::Graph arrange(const graph::Graph& graph,
                     const std::vector<std::pair<graph::NodeId, std::string>>& inputs);

}  // namespace kw::frontend
