// Which nodes are computed whole and which only chunk by chunk inside their consumers. Reductions,
// scans, selections, products and outputs are whole; pointwise ops and views are not, unless they
// would be computed over and over.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "truth/facts.h"

namespace kw::truth {

struct Plan {
  std::vector<bool> whole;              // per node
  std::vector<std::vector<int>> reads;  // per whole node: the whole nodes it is computed from
  std::vector<int> last_reader;         // per whole node; the node count when it is an output
};

/// Whether what a product reads is computed as it goes: a program of chunks reads a factor once,
/// one that is written for single elements reads it for every result.
enum class Factors : uint8_t { Fused, Whole };

Plan make_plan(const graph::Graph& graph, const std::vector<NodeFacts>& facts,
               Factors factors = Factors::Fused);

}  // namespace kw::truth
