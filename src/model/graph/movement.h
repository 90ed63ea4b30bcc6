// Ops that return the elements of their one input at other places.
#pragma once

#include "graph/graph_op.h"

namespace kw::graph {

/// Reshape, permute, expand, slice, pad (with a fill), flip, window. Not fold, which adds.
inline bool only_moves(Op op) {
  const OpInfo& info = op_info(op);
  return info.kind == OpKind::Movement && info.exact && info.inputs == 1;
}

}  // namespace kw::graph
