#include "graph/compose_window.h"

#include "graph/compose_move.h"

namespace kw::graph {

namespace {

bool is_trivial(const Span& span) { return span.size.same_text(Dim(1)) && span.stride == 1; }

Result<NodeId> with_last_one(Builder& b, NodeId x) {
  Shape shape = b[x].shape;
  shape.emplace_back(1);
  return b.reshape(x, std::move(shape));
}

// The trace depends on whether padding is positive, zero or negative, so the sign is guarded.
void guard_sign(Builder& b, const Dim& padding) {
  if (padding.value() == 0) {
    b.guard_equal(padding, Dim(0));
  } else if (padding.value() > 0) {
    b.guard_at_most(Dim(1), padding);
  } else {
    b.guard_at_most(padding, Dim(-1));
  }
}

// […, O, …, K] -> […, full, …].
Result<NodeId> fold_one(Builder& b, NodeId x, int dim, const Span& span, const Dim& full) {
  Shape shape(b[x].shape.begin(), b[x].shape.end() - 1);
  if (is_trivial(span) && shape[static_cast<size_t>(dim)].same_text(full)) {
    return b.reshape(x, std::move(shape));
  }
  shape[static_cast<size_t>(dim)] = full;
  Node node{Op::Fold, {x}, b.dtype(x), std::move(shape), {}, "", 0, 0};
  node.attrs.dims = {dim};
  node.attrs.steps = {span.stride, span.dilation};
  return b.add(std::move(node));
}

}  // namespace

Dim reach(const Span& span) { return (span.size - Dim(1)) * Dim(span.dilation) + Dim(1); }

Dim window_count(const Dim& extent, const Span& span) {
  const Dim room = extent + span.before + span.after - reach(span);
  return floor_div(room, Dim(span.stride)) + Dim(1);
}

Result<NodeId> window(Builder& b, NodeId x, int dim, const Span& span) {
  const Dim count = window_count(b.extent(x, dim), span);
  if (is_trivial(span)) return with_last_one(b, x);
  if (span.size.same_text(Dim(1))) {
    const Dim stop = (count - Dim(1)) * Dim(span.stride) + Dim(1);
    const NodeId picked = KW_TRY(b.slice(x, dim, Dim(0), stop, span.stride));
    return with_last_one(b, picked);
  }
  Node node{Op::Window, {x}, b.dtype(x), b[x].shape, {}, "", 0, 0};
  node.attrs.dims = {dim};
  node.attrs.steps = {span.stride, span.dilation};
  node.shape[static_cast<size_t>(dim)] = count;
  node.shape.push_back(span.size);
  return b.add(std::move(node));
}

Result<NodeId> windows(Builder& b, NodeId x, const Spans& spans, double fill) {
  const int first = b.rank(x) - static_cast<int>(spans.size());
  std::vector<Dim> pads;
  for (size_t i = 0; i < spans.size(); ++i) {
    const Dim& extent = b.extent(x, first + static_cast<int>(i));
    const Dim padded = extent + spans[i].before + spans[i].after;
    if (window_count(extent, spans[i]).value() < 1) {
      return input_error("a window of {} elements does not fit into {}", reach(spans[i]).value(),
                         padded.value());
    }
    b.guard_at_most(reach(spans[i]), padded);
    guard_sign(b, spans[i].before);
    guard_sign(b, spans[i].after);
  }
  for (size_t i = spans.size(); i-- > 0;) {
    pads.insert(pads.end(), {spans[i].before, spans[i].after});
  }
  x = KW_TRY(pad(b, x, pads, PadMode::Constant, fill));
  for (size_t i = 0; i < spans.size(); ++i) {
    Span inside = spans[i];
    inside.before = inside.after = Dim(0);
    x = KW_TRY(window(b, x, first + static_cast<int>(i), inside));
  }
  return x;
}

Result<NodeId> fold_windows(Builder& b, NodeId x, const Spans& spans, const Shape& extents) {
  const int first = b.rank(x) - 2 * static_cast<int>(spans.size());
  for (size_t i = spans.size(); i-- > 0;) {
    const int dim = first + static_cast<int>(i);
    const Span& span = spans[i];
    const Dim behind = span.after.value() > 0 ? span.after : Dim(0);
    const Dim stop = span.before + extents[i];
    x = KW_TRY(fold_one(b, x, dim, span, stop + behind));
    x = KW_TRY(b.slice(x, dim, span.before, stop));
  }
  return x;
}

Result<NodeId> move_back(Builder& b, NodeId x, int first, int last) {
  std::vector<int> order;
  for (int i = 0; i < b.rank(x); ++i) {
    if (i < first || i >= last) order.push_back(i);
  }
  for (int i = first; i < last; ++i) order.push_back(i);
  return b.permute(x, std::move(order));
}

}  // namespace kw::graph
