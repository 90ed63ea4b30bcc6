// Windows that slide over the last dims of a tensor, for convolutions, pools and unfold, and the
// inverse. The callers decide what to do with the elements of a window.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/builder.h"

namespace kw::graph {

/// The layout of windows along one dim.
struct Span {
  Dim size = 1;
  int64_t stride = 1, dilation = 1;
  Dim before = 0, after = 0;  // padding
};
/// One per sliding dim; these are the last dims of the tensor, in order.
using Spans = std::vector<Span>;

/// The distance from a window's first element to its last, plus 1: dilation * (size - 1) + 1.
Dim reach(const Span& span);
/// The number of windows that fit into the extent and the padding; below 1 when none fits.
Dim window_count(const Dim& extent, const Span& span);

/// For one dim without padding: […, S, …] -> […, O, …, K].
Result<NodeId> window(Builder& b, NodeId x, int dim, const Span& span);
/// […, S1, S2] -> […, O1, O2, K1, K2], padded with `fill`. At least one window must fit.
Result<NodeId> windows(Builder& b, NodeId x, const Spans& spans, double fill);
/// The inverse: […, O1, O2, K1, K2] -> […, extents]. Elements at the same place are added; elements
/// in the padding are dropped.
Result<NodeId> fold_windows(Builder& b, NodeId x, const Spans& spans, const Shape& extents);

/// Moves the dims [first, last) behind the dims that follow them: [a, b, c, d] with [1, 2) becomes
/// [a, c, d, b].
Result<NodeId> move_back(Builder& b, NodeId x, int first, int last);

}  // namespace kw::graph
