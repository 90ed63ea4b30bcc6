// Computes batched matrix products with bounds.
#pragma once

#include "truth/chunk_program.h"
#include "truth/reduce.h"

namespace kw::truth {

/// Fills `out`, which has the node's shape and tracks.
void matmul(const Sources& sources, graph::NodeId node, const Workers& workers, Tensor& out);

}  // namespace kw::truth
