// The problem: movement ops should cost nothing, but strides alone cannot express a reshape of
// permuted dims. A layout keeps each dim as a list of pieces, so a reshape can join dims and split
// them again later. When a layout cannot express an op, the planner stores the tensor before it.
// The alternative, copying at every reshape, would store the window matrices of convolutions. The
// cost: views with many pieces have short runs, which are slower to load.
#include "truth/view.h"

#include <utility>

#include "core/check.h"

namespace kw::truth {

int64_t count_of(const Extents& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  return count;
}

View dense_view(const Extents& shape) {
  View view{shape, Extents(shape.size(), 1), 0};
  for (size_t d = shape.size(); d-- > 1;) view.strides[d - 1] = view.strides[d] * shape[d];
  return view;
}

bool is_view_op(Op op) {
  switch (op) {
    case Op::Reshape:
    case Op::Permute:
    case Op::Expand:
    case Op::Slice:
    case Op::Flip:
    case Op::Window:
      return true;
    default:
      return false;
  }
}

namespace {

using Pieces = std::vector<Piece>;

int64_t extent_of(const Pieces& pieces) {
  int64_t extent = 1;
  for (const Piece& piece : pieces) extent *= piece.extent;
  return extent;
}

// Appends a piece, or joins it with the last one if both are evenly spaced.
void append(const Piece& piece, Pieces& to) {
  if (piece.extent == 1) return;
  if (!to.empty() && to.back().stride == piece.stride * piece.extent) {
    to.back() = {to.back().extent * piece.extent, piece.stride};
  } else {
    to.push_back(piece);
  }
}

Pieces one_piece(int64_t extent, int64_t stride) {
  Pieces pieces;
  append({extent, stride}, pieces);
  return pieces;
}

Layout expanded(const Layout& in, const Extents& shape) {
  Layout out{{}, in.offset};
  const size_t added = shape.size() - in.dims.size();
  for (size_t d = 0; d < shape.size(); ++d) {
    const bool grows = d < added || extent_of(in.dims[d - added]) != shape[d];
    out.dims.push_back(grows ? one_piece(shape[d], 0) : in.dims[d - added]);
  }
  return out;
}

// Slices one dim: `extent` elements from `start` in steps of `step`. Returns false if pieces would
// be cut unevenly.
bool slice_pieces(int64_t start, int64_t step, int64_t extent, Pieces& pieces, int64_t& offset) {
  if (extent == 0) {
    pieces = {{0, 0}};
    return true;
  }
  int64_t inside = extent_of(pieces);  // number of elements in the inner pieces
  if (start == 0 && extent == inside) return true;
  if (extent == 1) {  // a single element: find its address
    for (const Piece& piece : pieces) {
      inside /= piece.extent;
      offset += start / inside * piece.stride;
      start %= inside;
    }
    pieces.clear();
    return true;
  }
  Piece& outermost = pieces.front();
  inside /= outermost.extent;
  if (start % inside != 0 || extent % inside != 0 || (step != 1 && inside != 1)) return false;
  offset += start / inside * outermost.stride;
  const Piece cut{extent / inside, outermost.stride * step};
  pieces.erase(pieces.begin());
  if (cut.extent > 1) pieces.insert(pieces.begin(), cut);
  return true;
}

std::optional<Layout> sliced(const Node& op, const Layout& in, const Extents& shape) {
  Layout out = in;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!slice_pieces(op.attrs.starts[d].value(), op.attrs.steps[d], shape[d], out.dims[d],
                      out.offset))
      return std::nullopt;
  }
  return out;
}

Layout flipped(const Node& op, const Layout& in) {
  Layout out = in;
  for (const int dim : op.attrs.dims) {
    for (Piece& piece : out.dims[static_cast<size_t>(dim)]) {
      if (piece.extent > 0) out.offset += (piece.extent - 1) * piece.stride;
      piece.stride = -piece.stride;
    }
  }
  return out;
}

std::optional<Layout> windowed(const Node& op, const Layout& in, const Extents& shape) {
  const auto d = static_cast<size_t>(op.attrs.dims[0]);
  if (in.dims[d].size() > 1) return std::nullopt;
  Layout out = in;
  const int64_t stride = in.dims[d].empty() ? 0 : in.dims[d][0].stride;
  out.dims[d] = one_piece(shape[d], stride * op.attrs.steps[0]);
  out.dims.push_back(one_piece(shape.back(), stride * op.attrs.steps[1]));
  return out;
}

// Moves the innermost `extent` elements from `left` to `taken`. Returns false if a piece would be
// cut unevenly.
bool take_inner(int64_t extent, Pieces& left, Pieces& taken) {
  Pieces reversed;
  for (int64_t open = extent; open > 1;) {
    if (left.empty()) return false;
    Piece& inner = left.back();
    if (open % inner.extent == 0) {
      open /= inner.extent;
      reversed.push_back(inner);
      left.pop_back();
    } else if (inner.extent % open == 0) {
      reversed.push_back({open, inner.stride});
      inner = {inner.extent / open, inner.stride * open};
      open = 1;
    } else {
      return false;
    }
  }
  for (size_t k = reversed.size(); k-- > 0;) append(reversed[k], taken);
  return true;
}

std::optional<Layout> reshaped(const Layout& in, const Extents& shape) {
  if (count_of(shape) == 0) return layout_of(dense_view(shape));
  Pieces left;
  for (const Pieces& pieces : in.dims)
    for (const Piece& piece : pieces) append(piece, left);
  Layout out{std::vector<Pieces>(shape.size()), in.offset};
  for (size_t d = shape.size(); d-- > 0;) {
    if (!take_inner(shape[d], left, out.dims[d])) return std::nullopt;
  }
  return out;
}

}  // namespace

Layout layout_of(const View& view) {
  Layout layout{{}, view.offset};
  for (size_t d = 0; d < view.shape.size(); ++d)
    layout.dims.push_back(one_piece(view.shape[d], view.strides[d]));
  return layout;
}

View flat_view(const Layout& layout, const std::vector<int>& order) {
  View view{{}, {}, layout.offset};
  for (size_t k = 0; k < layout.dims.size(); ++k) {
    for (const Piece& piece : layout.dims[order.empty() ? k : static_cast<size_t>(order[k])]) {
      view.shape.push_back(piece.extent);
      view.strides.push_back(piece.stride);
    }
  }
  return view;
}

std::optional<Layout> view_layout(const Node& op, const Layout& in) {
  const Extents shape = graph::values_of(op.shape);
  switch (op.op) {
    case Op::Reshape:
      return reshaped(in, shape);
    case Op::Permute: {
      Layout out{{}, in.offset};
      for (const int d : op.attrs.dims) out.dims.push_back(in.dims[static_cast<size_t>(d)]);
      return out;
    }
    case Op::Expand:
      return expanded(in, shape);
    case Op::Slice:
      return sliced(op, in, shape);
    case Op::Flip:
      return flipped(op, in);
    case Op::Window:
      return windowed(op, in, shape);
    default:
      KW_CHECK(false, "only view ops are seen through");
  }
}

View permuted(const View& view, const std::vector<int>& order) {
  View out{{}, {}, view.offset};
  for (const int d : order) {
    out.shape.push_back(view.shape[static_cast<size_t>(d)]);
    out.strides.push_back(view.strides[static_cast<size_t>(d)]);
  }
  return out;
}

View coalesced(const View& view) {
  View out{{}, {}, view.offset};
  for (size_t d = 0; d < view.shape.size(); ++d) {
    const int64_t extent = view.shape[d], stride = view.strides[d];
    if (extent == 1) continue;
    if (!out.shape.empty() && out.strides.back() == stride * extent) {
      out.shape.back() *= extent;
      out.strides.back() = stride;
    } else {
      out.shape.push_back(extent);
      out.strides.push_back(stride);
    }
  }
  if (out.shape.empty()) return View{{1}, {0}, view.offset};
  return out;
}

}  // namespace kw::truth
