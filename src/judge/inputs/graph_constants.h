// The values at which a reference changes its behaviour: constants that it compares with an input,
// and pairs of inputs that it compares with each other. Inputs that hold exactly these values show
// a kernel that writes `<` for `<=`.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace kw::inputs {

/// One input's thresholds. "Exactly" means that only moves, casts to wider types, changes of sign
/// and choices between values lie between the input and the comparison.
struct InputConstants {
  std::vector<double> numbers;        // floats that are compared exactly with this input
  std::vector<int64_t> integers;      // the same for integers
  std::vector<size_t> compared_with;  // positions in graph.inputs
  bool searched = false;              // the reference searches it, so it must ascend
};

struct GraphConstants {
  std::vector<InputConstants> of_input;  // parallel to graph.inputs
  std::vector<double> numbers;           // all other constants of the graph
  std::vector<int64_t> integers;
};

GraphConstants constants_of(const graph::Graph& graph);

}  // namespace kw::inputs
