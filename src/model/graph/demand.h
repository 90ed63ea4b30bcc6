// The elements of a tensor that are needed: a union of strided boxes, plus a number of elements
// that an index selects. cost_of() is computed from it.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace kw::graph {

/// start, start + step, … along one dim.
struct Range {
  int64_t start = 0, count = 0, step = 1;

  int64_t last() const { return start + (count - 1) * step; }
  bool operator==(const Range&) const = default;
};
using Box = std::vector<Range>;  // one Range per dim

struct Demand {
  std::vector<Box> boxes;
  double gathered = 0;  // selected by an index; only its values tell which ones

  bool empty() const { return boxes.empty() && gathered == 0; }
};

Box whole_box(const Shape& shape);
/// Adds a box unless it is empty or already present.
void add_box(Demand& demand, Box box, const Shape& shape);
/// The number of elements in the union of the boxes; an upper bound when strided boxes overlap.
double box_elements(const Demand& demand, const Shape& shape);
/// The same plus the gathered elements, at most the number of elements of the tensor.
double demanded_elements(const Demand& demand, const Shape& shape);

/// The part of input number `which` that `node` needs for `box` of its result. An empty box needs
/// no elements. Ops that select by index count theirs as gathered and must not be passed here.
std::vector<Box> input_boxes(const Graph& graph, const Node& node, size_t which, const Box& box);

}  // namespace kw::graph
