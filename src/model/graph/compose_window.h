// Windows that slide over the last dims of a tensor: what convolutions, pools and unfold have in
// common, and the way back. What is done with a window's elements is the callers' business.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/builder.h"

namespace kw::graph {

/// How windows lie along one dim.
struct Span {
  Dim size = 1;
  int64_t stride = 1, dilation = 1;
  Dim before = 0, after = 0;  // padding
};
/// One per sliding dim: the last dims of the tensor, in order.
using Spans = std::vector<Span>;

/// From a window's first element to its last: dilation * (size - 1) + 1.
Dim reach(const Span& span);
/// How many windows fit into that many elements and the padding; below 1 when none does.
Dim window_count(const Dim& extent, const Span& span);

/// One dim alone, without padding: […, S, …] -> […, O, …, K].
Result<NodeId> window(Builder& b, NodeId x, int dim, const Span& span);
/// […, S1, S2] -> […, O1, O2, K1, K2], padded with `fill`. At least one window must fit.
Result<NodeId> windows(Builder& b, NodeId x, const Spans& spans, double fill);
/// The way back: […, O1, O2, K1, K2] -> […, extents]. Elements that meet are summed, those of the
/// padding dropped.
Result<NodeId> fold_windows(Builder& b, NodeId x, const Spans& spans, const Shape& extents);

/// Dims in the order [first, …, last) moved behind the ones that follow them: [a, b, c, d] with
/// [1, 2) is [a, c, d, b].
Result<NodeId> move_back(Builder& b, NodeId x, int first, int last);

}  // namespace kw::graph
