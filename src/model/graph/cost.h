// What a graph cannot avoid: bytes in and out of memory once each, and the arithmetic it asks for.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace kw::graph {

struct Cost {
  double flops = 0;
  double tensor_flops = 0;    // the part in matmuls (counted in flops too)
  double read_bytes = 0;      // inputs the outputs depend on, each element that is needed once
  double write_bytes = 0;     // outputs
  double gathered_bytes = 0;  // the part of read_bytes behind a gather: an upper bound, not certain
  double intensity() const {
    return flops / (read_bytes + write_bytes > 0 ? read_bytes + write_bytes : 1);
  }
};
Cost cost_of(const Graph& graph);

}  // namespace kw::graph
