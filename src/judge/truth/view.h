// Where the elements of a tensor lie when it is seen through movement ops: extents, strides and an
// offset, counted in elements. Not a tensor: it owns nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace kw::truth {

using Extents = std::vector<int64_t>;

int64_t count_of(const Extents& shape);

struct View {
  Extents shape;
  Extents strides;
  int64_t offset = 0;
};

/// Row-major, without gaps.
View dense_view(const Extents& shape);

View permuted(const View& view, const std::vector<int>& order);

/// The same elements in the same order with as few dims as possible; at least one.
View coalesced(const View& view);

/// Evenly spaced elements.
struct Piece {
  int64_t extent = 1, stride = 0;
  bool operator==(const Piece&) const = default;
};

/// A tensor seen through movement ops: like a View, but a dim may be several dims joined to one, as
/// a reshape leaves them: row-major pieces, none of extent 1.
struct Layout {
  std::vector<std::vector<Piece>> dims;
  int64_t offset = 0;
  bool operator==(const Layout&) const = default;
};

Layout layout_of(const View& view);
/// All pieces side by side, the dims first put in this order (empty: as they are).
View flat_view(const Layout& layout, const std::vector<int>& order);

/// Whether the op moves elements without touching them, in a way layouts can express.
bool is_view_op(graph::Op op);

/// `in` seen through a view op. Nothing when a layout cannot express it (a reshape that would cut a
/// piece unevenly, a part of joined dims).
std::optional<Layout> see_through(const graph::Node& op, const Layout& in);

/// Calls body(position, address, stride, count) for every run of evenly spaced elements among the
/// row-major positions start … start + count of a coalesced view.
template <class Body>
void for_runs(const View& view, int64_t start, int64_t count, Body body) {
  if (count <= 0) return;
  const size_t inner = view.shape.size() - 1;
  const int64_t extent = view.shape[inner], stride = view.strides[inner];
  constexpr size_t kFew = 8;  // outer dims that are counted; those of more are found by division
  int64_t index[kFew] = {};
  int64_t column = start % extent, address = view.offset;
  const auto find = [&](int64_t row) {
    address = view.offset;
    for (size_t d = inner; d-- > 0; row /= view.shape[d]) {
      const int64_t at = row % view.shape[d];
      if (d < kFew) index[d] = at;
      address += at * view.strides[d];
    }
  };
  const auto next = [&] {
    for (size_t d = inner; d-- > 0;) {
      address += view.strides[d];
      if (++index[d] < view.shape[d]) return;
      address -= view.shape[d] * view.strides[d];
      index[d] = 0;
    }
  };
  find(start / extent);
  for (int64_t done = 0; done < count; column = 0) {
    const int64_t length = extent - column < count - done ? extent - column : count - done;
    body(done, address + column * stride, stride, length);
    done += length;
    if (done == count) return;
    inner <= kFew ? next() : find((start + done) / extent);
  }
}

}  // namespace kw::truth
