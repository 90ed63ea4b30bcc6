// Scans and orderings return values and indices. A graph node has one result, so each pair is two
// nodes over the same input: SortValues and SortIndices. Nodes with several results would express
// the pair directly, but would change every user of graphs. k-th values and medians are slices of a
// full sort, because a selection primitive would serve only them. NaN decides a median, so a
// maximum over IsNan selects it separately. The cost: a kernel must fuse the two nodes of a pair,
// otherwise it sorts twice.
#include "graph/compose_scan.h"

#include <limits>

#include "graph/compose_move.h"
#include "graph/term.h"

namespace kw::graph {

namespace {

Result<NodeId> fold(Builder& b, Op op, NodeId x, int dim, MaybeType dtype) {
  if (dtype) x = b.cast(x, *dtype);
  const NodeId result = KW_TRY(b.scan(op, x, dim));
  return dtype ? b.cast(result, *dtype) : result;
}

Result<ValueIndex> best_so_far(Builder& b, Op value, Op index, NodeId x, int dim) {
  const NodeId best = KW_TRY(b.scan(value, x, dim));
  const NodeId where_it_is = KW_TRY(b.scan(index, x, dim));
  return ValueIndex{best, where_it_is};
}

// Adds one of the ordering ops; `count` elements remain along the dim.
Result<NodeId> ordered(Builder& b, Op op, NodeId x, int dim, bool descending, const Dim& count,
                       bool stable = false) {
  Node node{op, {x}, b.dtype(x), b[x].shape, {}, "", 0, 0};
  node.attrs.dims = {dim};
  node.attrs.descending = descending;
  node.attrs.integer = stable ? 1 : 0;
  node.shape[static_cast<size_t>(dim)] = count;
  return b.add(std::move(node));
}

// A tensor to be ordered along one dim. Rank 0 is treated as one element.
struct Line {
  NodeId x = -1;
  int dim = 0;
  Dim extent = 1;
  Shape shape;  // the original shape
};
Result<Line> line_of(Builder& b, NodeId x, int dim) {
  Line line;
  line.dim = KW_TRY(b.wrap_dim(dim, x));
  line.shape = b[x].shape;
  line.x = line.shape.empty() ? KW_TRY(b.reshape(x, {1})) : x;
  line.extent = b.extent(line.x, line.dim);
  return line;
}

Result<NodeId> drop_or_keep(Builder& b, NodeId x, const Line& line, bool keepdim) {
  if (line.shape.empty()) return b.reshape(x, {});
  if (keepdim) return x;
  return squeeze(b, x, {line.dim});
}

Result<ValueIndex> kth_of(Builder& b, const Line& line, const Dim& k) {
  ValueIndex all;
  all.value = KW_TRY(ordered(b, Op::SortValues, line.x, line.dim, false, line.extent));
  all.index = KW_TRY(ordered(b, Op::SortIndices, line.x, line.dim, false, line.extent));
  ValueIndex one;
  one.value = KW_TRY(b.slice(all.value, line.dim, k - Dim(1), k));
  one.index = KW_TRY(b.slice(all.index, line.dim, k - Dim(1), k));
  return one;
}

}  // namespace

Result<NodeId> cumsum(Builder& b, NodeId x, int dim, MaybeType dtype) {
  return fold(b, Op::CumSum, x, dim, dtype);
}

Result<NodeId> cumprod(Builder& b, NodeId x, int dim, MaybeType dtype) {
  return fold(b, Op::CumProd, x, dim, dtype);
}

Result<ValueIndex> cummax(Builder& b, NodeId x, int dim) {
  return best_so_far(b, Op::CumMax, Op::CumMaxIndex, x, dim);
}

Result<ValueIndex> cummin(Builder& b, NodeId x, int dim) {
  return best_so_far(b, Op::CumMin, Op::CumMinIndex, x, dim);
}

Result<NodeId> logcumsumexp(Builder& b, NodeId x, int dim) {
  if (!tensor::is_float(b.dtype(x)) || is_storage_only(b.dtype(x)))
    return input_error("\"logcumsumexp\" not implemented for '{}'", torch_name(b.dtype(x)));
  Formula f(b);
  const NodeId wide_x = KW_TRY(f.done(wide(f(x))));
  const NodeId sums = KW_TRY(b.scan(Op::CumLogSumExp, wide_x, dim));
  return f.done(f(sums), b.dtype(x));
}

Result<ValueIndex> sort(Builder& b, NodeId x, int dim, bool descending, bool stable) {
  const Line line = KW_TRY(line_of(b, x, dim));
  ValueIndex result;
  result.value = KW_TRY(ordered(b, Op::SortValues, line.x, line.dim, descending, line.extent));
  result.index =
      KW_TRY(ordered(b, Op::SortIndices, line.x, line.dim, descending, line.extent, stable));
  result.value = KW_TRY(b.reshape(result.value, line.shape));
  result.index = KW_TRY(b.reshape(result.index, line.shape));
  return result;
}

Result<NodeId> argsort(Builder& b, NodeId x, int dim, bool descending, bool stable) {
  const Line line = KW_TRY(line_of(b, x, dim));
  const NodeId index =
      KW_TRY(ordered(b, Op::SortIndices, line.x, line.dim, descending, line.extent, stable));
  return b.reshape(index, line.shape);
}

Result<ValueIndex> topk(Builder& b, NodeId x, const Dim& k, int dim, bool largest) {
  const Line line = KW_TRY(line_of(b, x, dim));
  if (k.value() < 0 || k.value() > line.extent.value()) {
    return input_error("selected index k out of range");
  }
  b.guard_at_most(k, line.extent);
  ValueIndex result;
  result.value = KW_TRY(ordered(b, Op::TopKValues, line.x, line.dim, largest, k));
  result.index = KW_TRY(ordered(b, Op::TopKIndices, line.x, line.dim, largest, k));
  if (!line.shape.empty()) return result;
  if (k == Dim(0)) return input_error("topk of a 0-dim tensor needs k = 1");
  result.value = KW_TRY(b.reshape(result.value, {}));
  result.index = KW_TRY(b.reshape(result.index, {}));
  return result;
}

Result<ValueIndex> kthvalue(Builder& b, NodeId x, const Dim& k, int dim, bool keepdim) {
  const Line line = KW_TRY(line_of(b, x, dim));
  if (k.value() < 1 || k.value() > line.extent.value())
    return input_error("kthvalue(): selected number k out of range for dimension {}", line.dim);
  b.guard_at_most(k, line.extent);
  ValueIndex result = KW_TRY(kth_of(b, line, k));
  result.value = KW_TRY(drop_or_keep(b, result.value, line, keepdim));
  result.index = KW_TRY(drop_or_keep(b, result.index, line, keepdim));
  return result;
}

Result<ValueIndex> median(Builder& b, NodeId x, int dim, bool keepdim) {
  const Line line = KW_TRY(line_of(b, x, dim));
  if (line.extent == Dim(0))
    return input_error("median(): Expected reduction dim {} to have non-zero size.", line.dim);
  ValueIndex result = KW_TRY(kth_of(b, line, floor_div(line.extent + Dim(1), Dim(2))));
  if (tensor::is_float(b.dtype(x))) {
    Formula f(b);
    const NodeId nans = KW_TRY(f.done(apply(Op::IsNan, f(line.x))));
    const NodeId found = KW_TRY(b.reduce(Op::Max, nans, {line.dim}, true));
    const NodeId where_nan = KW_TRY(b.reduce(Op::ArgMax, line.x, {line.dim}, true));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    result.value = KW_TRY(f.done(where(f(found), nan, f(result.value))));
    result.index = KW_TRY(f.done(where(f(found), f(where_nan), f(result.index))));
  }
  result.value = KW_TRY(drop_or_keep(b, result.value, line, keepdim));
  result.index = KW_TRY(drop_or_keep(b, result.index, line, keepdim));
  return result;
}

Result<NodeId> median_of_all(Builder& b, NodeId x) {
  const NodeId flat = KW_TRY(b.reshape(x, {-1}));
  return KW_TRY(median(b, flat, 0, false)).value;
}

}  // namespace kw::graph
