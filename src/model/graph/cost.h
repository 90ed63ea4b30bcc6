// The least work of a graph: bytes read and written once each, and its arithmetic.
#pragma once

#include "graph/graph.h"

namespace kw::graph {

struct Cost {
  double flops = 0;
  double tensor_flops = 0;    // the part in matmuls (counted in flops too)
  double read_bytes = 0;      // needed elements of inputs, each counted once
  double write_bytes = 0;     // outputs
  double gathered_bytes = 0;  // part of read_bytes behind a gather: an upper bound
  double intensity() const {
    return flops / (read_bytes + write_bytes > 0 ? read_bytes + write_bytes : 1);
  }
};
Cost cost_of(const Graph& graph);

}  // namespace kw::graph
