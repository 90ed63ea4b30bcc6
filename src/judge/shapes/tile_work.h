// Estimates the cost of a matrix product that is computed inside another, such as the scores of
// attention.
#pragma once

#include "graph/graph.h"

namespace kw::shapes {

/// Returns the lane instructions of blocks that compute whole tiles of the outer product. Each
/// block computes the inner product's rows again, even if a tile is mostly empty. 0: no product
/// uses the exponential of another.
double nested_tile_work(const graph::Graph& graph);

/// Returns the lane instructions of all products if every block computes a whole tile, even where
/// the matrices of a batch are small.
double tile_work(const graph::Graph& graph);

}  // namespace kw::shapes
