// Views and splits of PyTorch, composed of Reshape, Permute, Slice and Flip. Python allows negative
// and out-of-range positions, but a Slice node needs normalised ones. The normalisation depends on
// extents, so each decision by value becomes a guard. Slices with Python's own rules in the graph
// would need no guards, but each user would have to repeat the rules. A split adds one slice per
// piece, so the number of pieces is limited to kMostPieces. The cost: a trace that splits a dim
// holds only for the same number of pieces.
#include "graph/compose_move.h"

#include <algorithm>

namespace kw::graph {

namespace {

constexpr int64_t kMostPieces = 1 << 16;  // one node per piece

Error no_dims(const char* what) {
  return input_error("{} cannot be applied to a 0-dim tensor.", what);
}

// A position in 0 … extent by Python's rules: negative counts from the end, then clamped.
Dim clamp_place(Builder& b, const Dim& place, const Dim& extent) {
  const Dim from_front = place.value() < 0 ? extent + place : place;
  if (from_front.value() < 0) {
    b.guard_at_most(extent + Dim(1), Dim(0) - place);
    return 0;
  }
  if (from_front.value() > extent.value()) {
    b.guard_at_most(extent + Dim(1), from_front);
    return extent;
  }
  if (place.value() < 0) {
    b.guard_at_most(Dim(0) - place, extent);
  } else {
    b.guard_at_most(from_front, extent);
  }
  return from_front;
}

Result<std::vector<NodeId>> cut(Builder& b, NodeId x, int dim, const std::vector<Dim>& ends) {
  std::vector<NodeId> pieces;
  Dim start(0);
  for (const Dim& end : ends) {
    pieces.push_back(KW_TRY(b.slice(x, dim, start, end)));
    start = end;
  }
  return pieces;
}

// `count` pieces of `size`. The last piece ends at the end of the tensor and may be smaller.
Result<std::vector<NodeId>> cut_evenly(Builder& b, NodeId x, int dim, const Dim& size,
                                       int64_t count) {
  if (count > kMostPieces) return input_error("more than {} pieces of one tensor", kMostPieces);
  const Dim extent = b.extent(x, dim);
  const Dim whole = size * Dim(count);
  if (whole == extent) b.guard_equal(whole, extent);
  std::vector<Dim> ends;
  for (int64_t i = 1; i <= count; ++i) {
    const bool rest = i == count && !(whole == extent);
    ends.push_back(rest ? extent : size * Dim(i));
  }
  if (!(whole == extent) && count > 0) {
    b.guard_at_most(size * Dim(count - 1) + Dim(1), extent);
    b.guard_at_most(extent, whole);
  }
  return cut(b, x, dim, ends);
}

}  // namespace

Result<NodeId> transpose(Builder& b, NodeId x, int first, int second) {
  const int one = KW_TRY(b.wrap_dim(first, x));
  const int two = KW_TRY(b.wrap_dim(second, x));
  if (b.rank(x) == 0) return x;
  Dims order(static_cast<size_t>(b.rank(x)));
  for (int i = 0; i < b.rank(x); ++i) order[static_cast<size_t>(i)] = i;
  std::swap(order[static_cast<size_t>(one)], order[static_cast<size_t>(two)]);
  return b.permute(x, std::move(order));
}

Result<NodeId> movedim(Builder& b, NodeId x, const Dims& from, const Dims& to) {
  if (from.size() != to.size()) {
    return input_error(
        "movedim: Invalid source or destination dims: source ({} dims) should contain the same "
        "number of dims as destination ({} dims)",
        from.size(), to.size());
  }
  KW_TRY(b.wrap_dims(from, x));
  KW_TRY(b.wrap_dims(to, x));
  if (b.rank(x) == 0) return x;
  Dims order(static_cast<size_t>(b.rank(x)), -1);
  std::vector<bool> taken(order.size(), false);
  for (size_t i = 0; i < from.size(); ++i) {
    const int source = KW_TRY(b.wrap_dim(from[i], x));
    const int target = KW_TRY(b.wrap_dim(to[i], x));
    order[static_cast<size_t>(target)] = source;
    taken[static_cast<size_t>(source)] = true;
  }
  size_t next = 0;
  for (int& place : order) {
    if (place >= 0) continue;
    while (taken[next]) ++next;
    place = static_cast<int>(next++);
  }
  return b.permute(x, std::move(order));
}

Result<NodeId> squeeze(Builder& b, NodeId x, const Dims& dims) {
  const Dims wrapped = KW_TRY(b.wrap_dims(dims, x));
  Shape shape;
  for (int i = 0; i < b.rank(x); ++i) {
    const Dim extent = b.extent(x, i);
    const bool named = std::ranges::binary_search(wrapped, i);
    if (named && extent == Dim(1)) {
      b.guard_equal(extent, Dim(1));
    } else {
      shape.push_back(extent);
    }
  }
  return b.reshape(x, std::move(shape));
}

Result<NodeId> unsqueeze(Builder& b, NodeId x, int dim) {
  const int places = b.rank(x) + 1;
  if (dim < -places || dim >= places) {
    return input_error("Dimension out of range (expected to be in range of [{}, {}], but got {})",
                       -places, places - 1, dim);
  }
  Shape shape = b[x].shape;
  shape.insert(shape.begin() + (dim < 0 ? dim + places : dim), Dim(1));
  return b.reshape(x, std::move(shape));
}

Result<NodeId> flatten(Builder& b, NodeId x, int start, int end) {
  if (b.rank(x) == 0) return b.reshape(x, {1});
  const int first = KW_TRY(b.wrap_dim(start, x));
  const int last = KW_TRY(b.wrap_dim(end, x));
  if (first > last)
    return input_error("flatten() has invalid args: start_dim cannot come after end_dim");
  const Shape& from = b[x].shape;
  Shape shape(from.begin(), from.begin() + first);
  shape.push_back(count_of(Shape(from.begin() + first, from.begin() + last + 1)));
  shape.insert(shape.end(), from.begin() + last + 1, from.end());
  return b.reshape(x, std::move(shape));
}

Result<NodeId> unflatten(Builder& b, NodeId x, int dim, const Shape& sizes) {
  const int at = KW_TRY(b.wrap_dim(dim, x));
  if (b.rank(x) == 0) return no_dims("unflatten()");
  if (sizes.empty()) return input_error("unflatten: sizes must be non-empty");
  const Dim extent = b.extent(x, at);
  Dim known(1);
  int open = 0;
  for (const Dim& size : sizes) {
    if (size.value() == -1) {
      ++open;
    } else {
      known = known * size;
    }
  }
  const bool fits = open == 1 ? known.value() > 0 && extent.value() % known.value() == 0
                              : open == 0 && known == extent;
  if (!fits) {
    return input_error(
        "unflatten: Provided sizes {} don't multiply up to the size of dim {} ({}) in the input "
        "tensor",
        shape_text(sizes), at, extent.value());
  }
  Shape shape(b[x].shape.begin(), b[x].shape.begin() + at);
  for (const Dim& size : sizes) {
    shape.push_back(size.value() == -1 ? floor_div(extent, known) : size);
  }
  shape.insert(shape.end(), b[x].shape.begin() + at + 1, b[x].shape.end());
  return b.reshape(x, std::move(shape));
}

Result<NodeId> slice_range(Builder& b, NodeId x, int dim, const std::optional<Dim>& start,
                           const std::optional<Dim>& stop, int64_t step) {
  if (step <= 0) return input_error("slice step must be positive");
  const int at = KW_TRY(b.wrap_dim(dim, x));
  if (b.rank(x) == 0) return no_dims("slice()");
  const Dim extent = b.extent(x, at);
  const Dim first = start ? clamp_place(b, *start, extent) : Dim(0);
  Dim end = stop ? clamp_place(b, *stop, extent) : extent;
  if (end.value() < first.value()) {
    b.guard_at_most(end, first);
    end = first;
  } else {
    b.guard_at_most(first, end);
  }
  return b.slice(x, at, first, end, step);
}

Result<NodeId> narrow(Builder& b, NodeId x, int dim, const Dim& start, const Dim& length) {
  const int at = KW_TRY(b.wrap_dim(dim, x));
  if (b.rank(x) == 0) return no_dims("narrow()");
  const Dim extent = b.extent(x, at);
  if (length.value() < 0) return input_error("narrow(): length must be non-negative.");
  const Dim first = start.value() < 0 ? extent + start : start;
  if (first.value() < 0 || first.value() > extent.value() ||
      length.value() > extent.value() - first.value()) {
    return input_error("start ({}) + length ({}) exceeds dimension size ({}).", start.value(),
                       length.value(), extent.value());
  }
  if (start.value() < 0) b.guard_at_most(Dim(0) - start, extent);
  b.guard_at_most(first + length, extent);
  return b.slice(x, at, first, first + length);
}

Result<NodeId> select(Builder& b, NodeId x, int dim, const Dim& index) {
  const int at = KW_TRY(b.wrap_dim(dim, x));
  if (b.rank(x) == 0) return no_dims("select()");
  const Dim extent = b.extent(x, at);
  if (index.value() < -extent.value() || index.value() >= extent.value()) {
    return input_error("index {} is out of bounds for dimension {} with size {}", index.value(), at,
                       extent.value());
  }
  const Dim place = clamp_place(b, index, extent);
  b.guard_at_most(place + Dim(1), extent);
  const NodeId one = KW_TRY(b.slice(x, at, place, place + Dim(1)));
  return squeeze(b, one, {at});
}

Result<std::vector<NodeId>> unbind(Builder& b, NodeId x, int dim) {
  const int at = KW_TRY(b.wrap_dim(dim, x));
  if (b.rank(x) == 0) return no_dims("unbind()");
  std::vector<NodeId> pieces = KW_TRY(cut_evenly(b, x, at, 1, b.extent(x, at).value()));
  for (NodeId& piece : pieces) piece = KW_TRY(squeeze(b, piece, {at}));
  return pieces;
}

Result<std::vector<NodeId>> split(Builder& b, NodeId x, const Dim& size, int dim) {
  const int at = KW_TRY(b.wrap_dim(dim, x));
  if (b.rank(x) == 0) return no_dims("split()");
  const int64_t extent = b.extent(x, at).value();
  if (size.value() < 0 || (size.value() == 0 && extent != 0)) {
    return input_error(
        "split expects split_size be non-negative and above 0 for a dim of {}, but got {}", extent,
        size.value());
  }
  if (extent == 0) return std::vector<NodeId>{x};
  return cut_evenly(b, x, at, size, (extent - 1) / size.value() + 1);
}

Result<std::vector<NodeId>> split_sizes(Builder& b, NodeId x, const Shape& sizes, int dim) {
  const int at = KW_TRY(b.wrap_dim(dim, x));
  if (b.rank(x) == 0) return no_dims("split()");
  std::vector<Dim> ends;
  Dim end(0);
  for (const Dim& size : sizes) {
    if (size.value() < 0) {
      return input_error(
          "split_with_sizes expects split_sizes have only non-negative entries, but got "
          "split_sizes={}",
          shape_text(sizes));
    }
    end = end + size;
    ends.push_back(end);
  }
  if (!(end == b.extent(x, at))) {
    return input_error(
        "split_with_sizes expects split_sizes to sum exactly to {} (input tensor's size at "
        "dimension {}), but got split_sizes={}",
        b.extent(x, at).value(), at, shape_text(sizes));
  }
  b.guard_equal(end, b.extent(x, at));
  return cut(b, x, at, ends);
}

Result<std::vector<NodeId>> chunk(Builder& b, NodeId x, int64_t count, int dim) {
  if (count <= 0) return input_error("chunk expects `chunks` to be greater than 0, got: {}", count);
  const int at = KW_TRY(b.wrap_dim(dim, x));
  if (b.rank(x) == 0) return no_dims("chunk()");
  const Dim extent = b.extent(x, at);
  if (extent == Dim(0)) return cut_evenly(b, x, at, 0, count);
  if (extent.value() % count == 0) {
    return cut_evenly(b, x, at, floor_div(extent, Dim(count)), count);
  }
  return split(b, x, floor_div(extent + Dim(count - 1), Dim(count)), at);
}

Result<std::vector<NodeId>> tensor_split(Builder& b, NodeId x, int64_t count, int dim) {
  if (count <= 0 || count > kMostPieces) {
    return input_error("number of sections must be larger than 0 and at most {}, got {}",
                       kMostPieces, count);
  }
  const int at = KW_TRY(b.wrap_dim(dim, x));
  if (b.rank(x) == 0) return no_dims("tensor_split()");
  const Dim extent = b.extent(x, at);
  const int64_t larger = extent.value() % count;
  const Dim size = floor_div(extent, Dim(count));
  b.guard_equal(size * Dim(count) + Dim(larger), extent);
  std::vector<Dim> ends;
  for (int64_t i = 1; i <= count; ++i) ends.push_back(size * Dim(i) + Dim(std::min(i, larger)));
  return cut(b, x, at, ends);
}

Result<NodeId> flip(Builder& b, NodeId x, const Dims& dims) {
  if (dims.empty() || b.rank(x) == 0) return x;
  Node node{Op::Flip, {x}, b.dtype(x), {}, {}, "", 0, 0};
  node.attrs.dims = KW_TRY(b.wrap_dims(dims, x));
  return b.add(std::move(node));
}

}  // namespace kw::graph
