// Decides which nodes are stored whole and which are computed chunk by chunk inside their
// consumers. Reductions, scans, selections, products and outputs are whole. Pointwise ops and views
// are not, unless they would be computed repeatedly.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "truth/facts.h"

namespace kw::truth {

struct Plan {
  std::vector<bool> whole;              // per node
  std::vector<std::vector<int>> reads;  // per whole node: the whole nodes that it reads
  std::vector<int> last_reader;         // per whole node; the number of nodes if it is an output
};

/// Whether the inputs of a matrix product are fused into it. The interpreter reads each factor
/// once, so it fuses them. Code for single elements reads a factor for every result, so it needs
/// them whole.
enum class Factors : uint8_t { Fused, Whole };

Plan make_plan(const graph::Graph& graph, const std::vector<NodeFacts>& facts,
               Factors factors = Factors::Fused);

}  // namespace kw::truth
