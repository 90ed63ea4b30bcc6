// How large and how small the values of a task's inputs may be, so that its formula neither
// overflows nor underflows. An estimate from the graph, not a proof.
#pragma once

#include "graph/graph.h"
#include "task/task.h"

namespace kw::inputs {

/// Magnitudes between 2^low and 2^high, for all float inputs alike. Each input's type may limit
/// them further: see limited().
struct MagnitudeWindow {
  int low = 0, high = 0;
};

MagnitudeWindow magnitude_window(const task::Task& task, const graph::Graph& graph);

/// The window within the normal numbers of a type.
MagnitudeWindow limited(const MagnitudeWindow& window, tensor::DType type);

}  // namespace kw::inputs
