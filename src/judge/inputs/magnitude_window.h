// How large and how small the values of a task's inputs may be, so that its formula neither
// overflows nor underflows. An estimate from the graph, not a proof.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "task/task.h"

namespace kw::inputs {

/// Magnitudes between 2^low and 2^high, for all float inputs alike. Each input's type may limit
/// them further: see limited().
struct MagnitudeWindow {
  int low = 0, high = 0;
  bool whole = false;  // up to the ends of the type: nothing is computed that could leave it
};

MagnitudeWindow magnitude_window(const task::Task& task, const graph::Graph& graph);

/// By input: the window that it alone may have while the others are ordinary. Only of formulas that
/// add and multiply; not set: no wider one than that of magnitude_window().
std::vector<std::optional<MagnitudeWindow>> single_windows(const task::Task& task,
                                                           const graph::Graph& graph);

/// The window within the normal numbers of a type, with some room to its ends unless `whole`.
MagnitudeWindow limited(const MagnitudeWindow& window, tensor::DType type);
/// The largest finite number of a float type.
double largest_finite(tensor::DType type);

}  // namespace kw::inputs
