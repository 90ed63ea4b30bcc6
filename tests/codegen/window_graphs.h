// Graphs that read through windows, made by hand: convolutions, pools, transposed convolutions,
// attention, each with whatever makes it awkward. What generated modules are judged by.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "tensor/host_tensor.h"

namespace kw::codegen_tests {

struct WindowCase {
  std::string name;
  graph::Graph graph;
};

std::vector<WindowCase> window_cases();

/// Seeded inputs of the graph's shapes.
std::vector<tensor::HostTensor> inputs_for(const graph::Graph& graph, uint64_t seed);

}  // namespace kw::codegen_tests
