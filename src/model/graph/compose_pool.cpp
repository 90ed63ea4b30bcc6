// Pooling is a reduction over windows, so it is composed of Window and Max or Sum. Padding gets the
// neutral value: -inf for a maximum, 0 for a sum. The divisor of a mean depends on the position
// when padding does not count, so it is computed from positions. Adaptive pools have bins of
// different sizes when the extent is not a multiple of the count. Then each bin selects its
// elements by a mask over the whole dim. Gathering by index would be cheaper, but needs bins of one
// size. The cost: uneven bins visit extent * count elements instead of extent.
#include "graph/compose_pool.h"

#include <fmt/core.h>

#include <cmath>

#include "graph/compose_move.h"
#include "graph/compose_window.h"
#include "graph/term.h"

namespace kw::graph {

namespace {

Status check_pooled(const Builder& b, NodeId x, size_t dims, const char* what) {
  const DType type = b.dtype(x);
  if (!tensor::is_float(type) || is_storage_only(type))
    return input_error("\"{}\" not implemented for '{}'", what, torch_name(type));
  const size_t rank = b[x].shape.size();
  if (rank == dims + 1 || rank == dims + 2) return Done{};
  return input_error("{}{}d: Expected {}D or {}D (batch mode) tensor for input, but got: {}", what,
                     dims, dims + 1, dims + 2, values_text(b[x].shape));
}

Status check_pool(const Pool& pool) {
  for (size_t i = 0; i < pool.kernel.size(); ++i) {
    const int64_t size = pool.kernel[i], pad = pool.padding[i], dilation = pool.dilation[i];
    if (size <= 0) return input_error("kernel size should be greater than zero, but got {}", size);
    if (pool.stride[i] == 0) return input_error("stride should not be zero");
    if (pool.stride[i] < 0) return input_error("stride should be greater than zero");
    if (dilation <= 0)
      return input_error("dilation should be greater than zero, but got {}", dilation);
    if (pad < 0) return input_error("pad must be non-negative, but got pad: {}", pad);
    if (pad > ((size - 1) * dilation + 1) / 2) {
      return input_error(
          "pad should be at most half of effective kernel size, but got pad={}, kernel_size={} and "
          "dilation={}",
          pad, size, dilation);
    }
  }
  return Done{};
}

std::string sizes_text(const Shape& shape, size_t first) {
  std::string text;
  for (size_t i = first; i < shape.size(); ++i) {
    text += fmt::format("{}{}", text.empty() ? "" : "x", shape[i].value());
  }
  return "(" + text + ")";
}

// With `ceil`, the padding behind is enlarged for the last window. That window must start inside
// the input or the padding in front of it.
Span rounded_up(Builder& b, const Dim& extent, Span span) {
  const Dim stride(span.stride);
  const Dim room = extent + span.before + span.after - reach(span) + stride - Dim(1);
  Dim last = floor_div(room, stride);
  const Dim end = extent + span.before;
  if (last.value() * span.stride >= end.value()) {
    b.guard_at_most(end, last * stride);
    last = last - Dim(1);
  } else {
    b.guard_at_most(last * stride + Dim(1), end);
  }
  span.after = last * stride + reach(span) - end;
  return span;
}

Result<Spans> pool_spans(Builder& b, NodeId x, const Pool& pool) {
  KW_TRY(check_pool(pool));
  const size_t n = pool.kernel.size();
  const Shape shape = b[x].shape;
  Spans spans;
  Shape out = shape;
  bool fits = true;
  for (size_t i = 0; i < n; ++i) {
    const size_t dim = shape.size() - n + i;
    Span span{Dim(pool.kernel[i]), pool.stride[i], pool.dilation[i], Dim(pool.padding[i]),
              Dim(pool.padding[i])};
    if (pool.ceil) span = rounded_up(b, shape[dim], std::move(span));
    out[dim] = window_count(shape[dim], span);
    fits = fits && out[dim].value() > 0;
    spans.push_back(std::move(span));
  }
  if (fits) return spans;
  const size_t channels = shape.size() - n - 1;
  return input_error("Given input size: {}. Calculated output size: {}. Output size is too small",
                     sizes_text(shape, channels), sizes_text(out, channels));
}

Dims last_dims(const Builder& b, NodeId x, size_t count) {
  Dims dims;
  for (size_t i = 0; i < count; ++i) dims.push_back(b.rank(x) - static_cast<int>(count - i));
  return dims;
}

// Joins the last `count` dims into one.
Result<NodeId> join_last(Builder& b, NodeId x, size_t count) {
  return flatten(b, x, b.rank(x) - static_cast<int>(count), b.rank(x) - 1);
}

// The numbers 0, 1, … along one of `rank` dims, with shape [1, …, count, …, 1].
Term positions(Formula& f, const Dim& count, size_t dim, size_t rank) {
  Shape shape(rank, Dim(1));
  shape[dim] = count;
  return f(f.builder().iota(std::move(shape), static_cast<int>(dim), DType::Int64));
}

Term smaller(const Term& a, const Term& b) { return apply(Op::Minimum, a, b); }
Term larger(const Term& a, const Term& b) { return apply(Op::Maximum, a, b); }

}  // namespace

Result<NodeId> max_pool(Builder& b, NodeId x, const Pool& pool) {
  KW_TRY(check_pooled(b, x, pool.kernel.size(), "max_pool"));
  const Spans spans = KW_TRY(pool_spans(b, x, pool));
  const NodeId seen = KW_TRY(windows(b, x, spans, -INFINITY));
  return b.reduce(Op::Max, seen, last_dims(b, seen, spans.size()), false);
}

Result<ValueIndex> max_pool_with_index(Builder& b, NodeId x, const Pool& pool) {
  KW_TRY(check_pooled(b, x, pool.kernel.size(), "max_pool"));
  const Spans spans = KW_TRY(pool_spans(b, x, pool));
  const size_t n = spans.size();
  const NodeId seen = KW_TRY(windows(b, x, spans, -INFINITY));
  const NodeId joined = KW_TRY(join_last(b, seen, n));
  const ValueIndex found = KW_TRY(max_along(b, joined, -1, false));
  // Splits the index within the window dim by dim, from the last one, and maps it to the input.
  Formula f(b);
  Term rest = f(found.index);
  const Shape shape = b[found.index].shape, extents = b[x].shape;
  Term place(0);
  Dim pitch(1);
  for (size_t i = n; i-- > 0;) {
    const size_t dim = shape.size() - n + i;
    const Span& span = spans[i];
    const Term inside = i == 0 ? rest : apply(Op::Remainder, rest, span.size);
    if (i > 0) rest = apply(Op::FloorDiv, rest, span.size);
    const Term start = positions(f, shape[dim], dim, shape.size()) * Dim(span.stride);
    place = place + (start + inside * Dim(span.dilation) - span.before) * pitch;
    pitch = pitch * extents[dim];
  }
  const NodeId index = KW_TRY(f.done(place));
  return ValueIndex{found.value, index};
}

namespace {

// The number of counted elements of each window along one dim.
Term counted(Formula& f, const Span& span, const Dim& extent, const Dim& padding, size_t dim,
             size_t rank, bool count_padding) {
  const Term start =
      positions(f, window_count(extent, span), dim, rank) * Dim(span.stride) - span.before;
  const Term end = smaller(start + span.size, extent + padding);
  return count_padding ? end - start : smaller(end, extent) - larger(start, 0);
}

}  // namespace

Result<NodeId> avg_pool(Builder& b, NodeId x, const Pool& pool, const Average& average) {
  KW_TRY(check_pooled(b, x, pool.kernel.size(), "avg_pool"));
  if (average.divisor == 0) return input_error("divisor must be not zero");
  const Spans spans = KW_TRY(pool_spans(b, x, pool));
  const DType type = b.dtype(x);
  const NodeId seen = KW_TRY(windows(b, b.cast(x, opmath(type)), spans, 0));
  const NodeId total = KW_TRY(b.reduce(Op::Sum, seen, last_dims(b, seen, spans.size()), false));
  Formula f(b);
  bool even = !pool.ceil;
  Dim size(1);
  for (size_t i = 0; i < spans.size(); ++i) {
    size = size * spans[i].size;
    even = even && (average.count_padding || pool.padding[i] == 0);
  }
  if (average.divisor) return f.done(f(total) / Dim(*average.divisor), type);
  if (even) return f.done(f(total) / size, type);
  Term count(1);
  const Shape extents = b[x].shape;
  for (size_t i = 0; i < spans.size(); ++i) {
    const size_t dim = extents.size() - spans.size() + i;
    count = count * counted(f, spans[i], extents[dim], Dim(pool.padding[i]), dim, extents.size(),
                            average.count_padding);
  }
  return f.done(f(total) / cast(count, opmath(type)), type);
}

namespace {

// One dim, divided into bins.
struct Bins {
  int dim = 0;
  Dim extent = 0, count = 0;
  bool even = false;  // all bins have one size

  bool untouched() const { return count.same_text(extent); }
};

Result<std::vector<Bins>> bins_of(Builder& b, NodeId x, const BinCounts& sizes) {
  std::vector<Bins> all;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int dim = b.rank(x) - static_cast<int>(sizes.size() - i);
    const Dim& extent = b.extent(x, dim);
    Bins bins{dim, extent, sizes[i].value_or(extent), false};
    if (bins.count.value() < 1 || extent.value() < 1) {
      return input_error(
          "adaptive pooling: expected input and output sizes to be greater than zero, but got {} "
          "and {}",
          extent.value(), bins.count.value());
    }
    bins.even = extent.value() % bins.count.value() == 0;
    all.push_back(std::move(bins));
  }
  return all;
}

// Whether an element (along `within`) belongs to a bin (along `across`).
Term membership(Formula& f, const Bins& bins, size_t across, size_t within, size_t rank) {
  const Term bin = positions(f, bins.count, across, rank);
  const Term element = positions(f, bins.extent, within, rank);
  return (bin * bins.extent < (element + 1) * bins.count) &
         (element * bins.count < (bin + 1) * bins.extent);
}

Result<NodeId> reduce_bins(Builder& b, NodeId x, const Bins& bins, Op op) {
  if (bins.untouched()) return x;
  if (bins.count.same_text(Dim(1))) return b.reduce(op, x, {bins.dim}, true);
  if (bins.even) {
    const NodeId split =
        KW_TRY(unflatten(b, x, bins.dim, {bins.count, floor_div(bins.extent, bins.count)}));
    return b.reduce(op, split, {bins.dim + 1}, false);
  }
  const NodeId apart = KW_TRY(unsqueeze(b, x, bins.dim));
  Formula f(b);
  const auto across = static_cast<size_t>(bins.dim);
  const Term inside = membership(f, bins, across, across + 1, b[apart].shape.size());
  const NodeId chosen = KW_TRY(f.done(where(inside, f(apart), op == Op::Sum ? 0.0 : -INFINITY)));
  return b.reduce(op, chosen, {bins.dim + 1}, false);
}

// The number of elements per bin along one dim, shaped to broadcast against this rank.
Term bin_sizes(Formula& f, const Bins& bins, size_t rank) {
  const Term bin = positions(f, bins.count, static_cast<size_t>(bins.dim), rank);
  const Term start = apply(Op::FloorDiv, bin * bins.extent, bins.count);
  const Term above = (bin + 1) * bins.extent + (bins.count - Dim(1));
  return apply(Op::FloorDiv, above, bins.count) - start;
}

}  // namespace

Result<NodeId> adaptive_avg_pool(Builder& b, NodeId x, const BinCounts& sizes) {
  KW_TRY(check_pooled(b, x, sizes.size(), "adaptive_avg_pool"));
  const std::vector<Bins> all = KW_TRY(bins_of(b, x, sizes));
  const DType type = b.dtype(x);
  NodeId total = b.cast(x, opmath(type));
  Dim each(1);
  for (const Bins& bins : all) {
    total = KW_TRY(reduce_bins(b, total, bins, Op::Sum));
    if (bins.even) each = each * floor_div(bins.extent, bins.count);
  }
  Formula f(b);
  Term mean = f(total) / each;
  for (const Bins& bins : all) {
    if (!bins.even) mean = mean / cast(bin_sizes(f, bins, b[x].shape.size()), opmath(type));
  }
  return f.done(mean, type);
}

Result<NodeId> adaptive_max_pool(Builder& b, NodeId x, const BinCounts& sizes) {
  KW_TRY(check_pooled(b, x, sizes.size(), "adaptive_max_pool"));
  for (const Bins& bins : KW_TRY(bins_of(b, x, sizes))) {
    x = KW_TRY(reduce_bins(b, x, bins, Op::Max));
  }
  return x;
}

Result<ValueIndex> adaptive_max_pool_with_index(Builder& b, NodeId x, const BinCounts& sizes) {
  KW_TRY(check_pooled(b, x, sizes.size(), "adaptive_max_pool"));
  const std::vector<Bins> all = KW_TRY(bins_of(b, x, sizes));
  const size_t n = all.size(), rank = b[x].shape.size();
  // […, bins …, elements …]: each bin sees all elements; elements of other bins are -inf.
  Shape apart = b[x].shape;
  apart.insert(apart.end() - static_cast<std::ptrdiff_t>(n), n, Dim(1));
  const NodeId spread = KW_TRY(b.reshape(x, apart));
  Formula f(b);
  Term chosen = f(spread);
  for (size_t i = 0; i < n; ++i) {
    const size_t across = rank - n + i;
    const Term inside = membership(f, all[i], across, across + n, rank + n);
    chosen = where(inside, chosen, -INFINITY);
  }
  const NodeId full = KW_TRY(f.done(chosen));
  const NodeId joined = KW_TRY(join_last(b, full, n));
  return max_along(b, joined, -1, false);
}

}  // namespace kw::graph
