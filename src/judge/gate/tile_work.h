// What a product costs that is computed within another, as scores are within attention.
#pragma once

#include "graph/graph.h"

namespace kw::gate {

/// Lane instructions of blocks that make whole tiles of the outer product: each makes the inner
/// one's rows anew, however few of a tile's elements are asked for. 0: no product is within
/// another.
double nested_tile_work(const graph::Graph& graph);

}  // namespace kw::gate
