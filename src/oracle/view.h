// Where the elements of a tensor lie when it is seen through movement ops: extents, strides and an
// offset, counted in elements. Not a tensor: it owns nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace kw::oracle {

using Extents = std::vector<int64_t>;

int64_t count_of(const Extents& shape);

struct View {
  Extents shape;
  Extents strides;
  int64_t offset = 0;
};

/// Row-major, without gaps.
View dense_view(const Extents& shape);

/// Whether the op moves elements without touching them, in a way strides can express.
bool is_view_op(graph::Op op);

/// `in` seen through a view op. Nothing when strides cannot express it (a reshape that would split
/// or merge what is not adjacent).
std::optional<View> see_through(const graph::Node& op, const View& in);

View permuted(const View& view, const std::vector<int>& order);

/// The same elements in the same order with as few dims as possible; at least one.
View coalesced(const View& view);

/// Calls body(position, address, stride, count) for every run of evenly spaced elements among the
/// row-major positions start … start + count of a coalesced view.
template <class Body>
void for_runs(const View& view, int64_t start, int64_t count, Body body) {
  const size_t inner = view.shape.size() - 1;
  const int64_t extent = view.shape[inner], stride = view.strides[inner];
  for (int64_t done = 0; done < count;) {
    int64_t row = (start + done) / extent;
    const int64_t column = (start + done) % extent;
    int64_t address = view.offset + column * stride;
    for (size_t d = inner; d-- > 0; row /= view.shape[d])
      address += row % view.shape[d] * view.strides[d];
    const int64_t length = extent - column < count - done ? extent - column : count - done;
    body(done, address, stride, length);
    done += length;
  }
}

}  // namespace kw::oracle
