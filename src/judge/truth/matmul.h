// Batched matrix products with bounds.
#pragma once

#include "oracle/program.h"
#include "oracle/reduce.h"

namespace kw::oracle {

/// Fills `out`, which has the node's shape and tracks.
void matmul(const Sources& sources, graph::NodeId node, const Workers& workers, Tensor& out);

}  // namespace kw::oracle
