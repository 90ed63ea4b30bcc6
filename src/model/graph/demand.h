// Which elements of a tensor are asked for: a union of strided boxes, and how many more an index
// may pick anywhere. The algebra behind cost_of().
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
  double gathered = 0;  // elements an index picks; which ones only its values know

  bool empty() const { return boxes.empty() && gathered == 0; }
};

Box whole_box(const Shape& shape);
/// Adds a box unless it holds nothing or is known already.
void add_box(Demand& demand, Box box, const Shape& shape);
/// Elements in the union of the boxes; an upper bound where strided ones overlap.
double box_elements(const Demand& demand, const Shape& shape);
/// With the gathered ones; never more than there are.
double demanded_elements(const Demand& demand, const Shape& shape);

/// What input number `which` of `node` must provide for `box` of its result; an empty box: nothing.
/// Ops that pick by index provide theirs as gathered and are not asked here.
std::vector<Box> input_boxes(const Graph& graph, const Node& node, size_t which, const Box& box);

}  // namespace kw::graph
