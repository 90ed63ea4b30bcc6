// Describes the addresses of a tensor's elements after movement ops: extents, strides and an
// offset, in elements. A view owns no data.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace kw::truth {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Op;
using graph::OpKind;
using tensor::DType;
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

/// Returns the same elements in the same order with as few dims as possible, but at least one.
View coalesced(const View& view);

/// Evenly spaced elements.
struct Piece {
  int64_t extent = 1, stride = 0;
  bool operator==(const Piece&) const = default;
};

/// A tensor seen through movement ops. Unlike in a View, a dim may consist of several joined dims,
/// as a reshape creates them: row-major pieces, none of extent 1.
struct Layout {
  std::vector<std::vector<Piece>> dims;
  int64_t offset = 0;
  bool operator==(const Layout&) const = default;
};

Layout layout_of(const View& view);
/// Returns all pieces as dims, after permuting the dims by `order` (empty: unchanged).
View flat_view(const Layout& layout, const std::vector<int>& order);

/// Returns whether the op only moves elements, in a way that layouts can express.
bool is_view_op(graph::Op op);

/// Returns the layout of `in` seen through a view op. Not set when a layout cannot express it (a
/// reshape that would cut a piece unevenly, a part of joined dims).
std::optional<Layout> view_layout(const graph::Node& op, const Layout& in);

/// Calls body(position, address, stride, count) for every run of evenly spaced elements among the
/// row-major positions start … start + count of a coalesced view.
template <class Body>
void for_runs(const View& view, int64_t start, int64_t count, Body body) {
  if (count <= 0) return;
  const size_t inner = view.shape.size() - 1;
  const int64_t extent = view.shape[inner], stride = view.strides[inner];
  constexpr size_t kFew = 8;  // for more outer dims, indices are found by division
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
