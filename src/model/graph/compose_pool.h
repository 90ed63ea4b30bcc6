// Pooling: the maximum or the mean of every window, or of bins that divide a dim into a given
// number of parts. Half types are averaged in fp32 and rounded once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/builder.h"
#include "graph/compose_reduce.h"

namespace kw::graph {

/// One entry per pooled dim. These are the last dims of x, after channels and an optional batch.
struct Pool {
  std::vector<int64_t> kernel, stride, padding, dilation;
  bool ceil = false;  // also counts a last window that reaches beyond the end
};

Result<NodeId> max_pool(Builder& b, NodeId x, const Pool& pool);
/// The index is a position in the flattened pooled dims.
Result<ValueIndex> max_pool_with_index(Builder& b, NodeId x, const Pool& pool);

struct Average {
  bool count_padding = true;
  std::optional<int64_t> divisor = {};
};
Result<NodeId> avg_pool(Builder& b, NodeId x, const Pool& pool, const Average& average);

/// Bin i of n along an extent of e: from i * e / n rounded down to (i + 1) * e / n rounded up. One
/// size per pooled dim; not set: as many bins as elements.
using BinCounts = std::vector<std::optional<Dim>>;
Result<NodeId> adaptive_avg_pool(Builder& b, NodeId x, const BinCounts& sizes);
Result<NodeId> adaptive_max_pool(Builder& b, NodeId x, const BinCounts& sizes);
Result<ValueIndex> adaptive_max_pool_with_index(Builder& b, NodeId x, const BinCounts& sizes);

}  // namespace kw::graph
