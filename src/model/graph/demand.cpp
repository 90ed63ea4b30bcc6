// The floor of a task needs the number of elements that must be read, but slices, strides and
// windows read only parts of a tensor. So a need is a union of strided boxes, mapped backwards
// through each op. Exact sets of elements would need memory in the size of the tensors. Unions of
// unstrided boxes are counted exactly on the grid of their edges. Strided boxes that may overlap
// are added up, which gives an upper bound. The cost is bounded by kMostBoxes and kMostCells;
// beyond these limits the count is an upper bound too.
#include "graph/demand.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/contains.h"

namespace kw::graph {

namespace {

constexpr size_t kMostBoxes = 64;       // with more, the whole tensor counts as needed
constexpr double kMostCells = 1 << 20;  // cells of the grid made by all edges of the boxes

double volume(const Box& box) {
  double product = 1;
  for (const Range& range : box) product *= static_cast<double>(range.count);
  return product;
}

double total(const Shape& shape) {
  double product = 1;
  for (const Dim& dim : shape) product *= static_cast<double>(dim.value());
  return product;
}

Range full(const Dim& extent) { return {0, extent.value(), 1}; }

bool disjoint(const Range& a, const Range& b) {
  if (a.last() < b.start || b.last() < a.start) return true;
  return a.step == b.step && (a.start - b.start) % a.step != 0;
}

bool disjoint(const Box& a, const Box& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (disjoint(a[i], b[i])) return true;
  }
  return false;
}

bool all_disjoint(const std::vector<Box>& boxes) {
  for (size_t i = 0; i < boxes.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!disjoint(boxes[i], boxes[j])) return false;
    }
  }
  return true;
}

// Each cell between the edges of unstrided boxes lies completely inside or outside each box.
double grid_union(const std::vector<Box>& boxes) {
  const size_t rank = boxes[0].size();
  std::vector<std::vector<int64_t>> edges(rank);
  double cells = 1;
  for (size_t d = 0; d < rank; ++d) {
    std::set<int64_t> points;
    for (const Box& box : boxes) {
      points.insert(box[d].start);
      points.insert(box[d].start + box[d].count);
    }
    edges[d].assign(points.begin(), points.end());
    cells *= static_cast<double>(edges[d].size() - 1);
  }
  if (cells > kMostCells) return -1;
  double sum = 0;
  std::vector<size_t> at(rank, 0);
  for (bool more = true; more;) {
    const bool inside = std::ranges::any_of(boxes, [&](const Box& box) {
      for (size_t d = 0; d < rank; ++d) {
        const int64_t low = edges[d][at[d]];
        if (low < box[d].start || low >= box[d].start + box[d].count) return false;
      }
      return true;
    });
    double cell = inside ? 1 : 0;
    for (size_t d = 0; d < rank; ++d) {
      cell *= static_cast<double>(edges[d][at[d] + 1] - edges[d][at[d]]);
    }
    sum += cell;
    more = false;
    for (size_t d = 0; d < rank && !more; ++d) {
      at[d] = at[d] + 2 < edges[d].size() ? at[d] + 1 : 0;
      more = at[d] != 0;
    }
  }
  return sum;
}

// Maps a run [begin, end) of the flattened group to ranges over the dims of the group. Exact when
// the run is a box, otherwise the smallest box around it.
void place_run(const Shape& shape, size_t first, size_t last, int64_t begin, int64_t end,
               Box* out) {
  int64_t inner = 1;
  for (size_t i = first + 1; i < last; ++i) inner *= shape[i].value();
  for (size_t i = first; i < last; ++i) {
    const int64_t low = begin / inner, high = (end - 1) / inner;
    out->push_back({low, high - low + 1, 1});
    if (high > low) {
      for (size_t j = i + 1; j < last; ++j) out->push_back(full(shape[j]));
      return;
    }
    begin -= low * inner;
    end -= low * inner;
    if (i + 1 < last) inner /= shape[i + 1].value();
  }
}

// One group of dims whose product is the same in both shapes.
void reshape_group(const Shape& from, size_t from_first, size_t from_last, const Shape& to,
                   size_t to_first, size_t to_last, const Box& box, Box* out) {
  // The only dim with an extent other than 1, if there is just one: its range is kept unchanged.
  const auto single = [](const Shape& shape, size_t first, size_t last) {
    size_t found = last;
    for (size_t i = first; i < last; ++i) {
      if (shape[i] == Dim(1)) continue;
      if (found != last) return last;
      found = i;
    }
    return found;
  };
  const size_t from_one = single(from, from_first, from_last);
  const size_t to_one = single(to, to_first, to_last);
  if (from_one != from_last && to_one != to_last) {
    for (size_t i = from_first; i < from_last; ++i) {
      out->push_back(i == from_one ? box[to_one] : full(from[i]));
    }
    return;
  }
  int64_t begin = 0, end = 0;
  for (size_t i = to_first; i < to_last; ++i) {
    begin = begin * to[i].value() + box[i].start;
    end = end * to[i].value() + box[i].last();
  }
  place_run(from, from_first, from_last, begin, end + 1, out);
}

Box reshape_box(const Shape& from, const Shape& to, const Box& box) {
  Box result;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    const size_t from_first = i, to_first = j;
    int64_t left = i < from.size() ? from[i++].value() : 1;
    int64_t right = j < to.size() ? to[j++].value() : 1;
    while (left != right && (i < from.size() || j < to.size())) {
      if (left < right && i < from.size()) {
        left *= from[i++].value();
      } else if (j < to.size()) {
        right *= to[j++].value();
      } else {
        left *= from[i++].value();
      }
    }
    reshape_group(from, from_first, i, to, to_first, j, box, &result);
  }
  return result;
}

Range intersect(const Range& range, int64_t low, int64_t high) {
  Range result = range;
  if (result.start < low) {
    const int64_t skipped = (low - result.start + result.step - 1) / result.step;
    result.start += skipped * result.step;
    result.count -= skipped;
  }
  if (result.count > 0 && result.last() >= high) {
    result.count = result.start >= high ? 0 : (high - 1 - result.start) / result.step + 1;
  }
  result.start -= low;
  return result;
}

Box matmul_box(const Shape& from, size_t which, const Box& box) {
  Box result(box);
  const size_t inner = which == 0 ? from.size() - 1 : from.size() - 2;
  result[inner] = full(from[inner]);
  return result;
}

Box expand_box(const Shape& from, const Box& box) {
  Box result(box.end() - static_cast<long>(from.size()), box.end());
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == Dim(1)) result[i] = {0, 1, 1};
  }
  return result;
}

Box concat_box(const Graph& graph, const Node& node, size_t which, const Box& box) {
  const auto dim = static_cast<size_t>(node.attrs.dims[0]);
  int64_t low = 0;
  for (size_t i = 0; i < which; ++i) low += graph[node.inputs[i]].shape[dim].value();
  Box result = box;
  result[dim] = intersect(box[dim], low, low + graph[node.inputs[which]].shape[dim].value());
  return result;
}

// All of start + i * grid.step + k * shift.step. Elements with the same remainder modulo the grid's
// step form runs that may overlap. Elements with different remainders never coincide.
std::vector<Range> grid_ranges(int64_t start, const Range& grid, const Range& shift) {
  std::map<int64_t, std::vector<Range>> by_rest;  // in steps of the grid
  for (int64_t k = 0; k < shift.count; ++k) {
    const int64_t first = start + k * shift.step;
    std::vector<Range>& runs = by_rest[first % grid.step];
    const Range run{first / grid.step, grid.count, 1};
    if (runs.empty() || run.start > runs.back().last() + 1) {
      runs.push_back(run);
    } else {
      runs.back().count = run.last() - runs.back().start + 1;
    }
  }
  std::vector<Range> ranges;
  for (const auto& [rest, runs] : by_rest)
    for (const Range& run : runs)
      ranges.push_back({run.start * grid.step + rest, run.count, grid.step});
  return ranges;
}

// Whether the ranges together cover every element, so that one range without steps replaces them.
bool leaves_no_gap(const std::vector<Range>& ranges) {
  int64_t low = ranges[0].start, high = ranges[0].last(), count = 0;
  for (const Range& range : ranges) {
    low = std::min(low, range.start);
    high = std::max(high, range.last());
    count += range.count;
  }
  return count == high - low + 1;
}

// The elements of all needed windows, without the gaps of wide strides.
std::vector<Box> window_boxes(const Attrs& attrs, const Box& box) {
  const auto dim = static_cast<size_t>(attrs.dims[0]);
  const Range &places = box[dim], &inside = box.back();
  if (places.count <= 0 || inside.count <= 0) return {};
  const Range across{0, places.count, places.step * attrs.steps[0]};
  const Range along{0, inside.count, inside.step * attrs.steps[1]};
  const int64_t first = places.start * attrs.steps[0] + inside.start * attrs.steps[1];
  const int64_t last = places.last() * attrs.steps[0] + inside.last() * attrs.steps[1];
  std::vector<Range> ranges = across.count >= along.count ? grid_ranges(first, across, along)
                                                          : grid_ranges(first, along, across);
  if (leaves_no_gap(ranges)) ranges = {{first, last - first + 1, 1}};
  std::vector<Box> boxes;
  for (const Range& range : ranges) {
    boxes.emplace_back(box.begin(), box.end() - 1);
    boxes.back()[dim] = range;
  }
  return boxes;
}

// Every window that may reach into the box.
Box fold_box(const Attrs& attrs, const Shape& from, const Box& box) {
  const auto dim = static_cast<size_t>(attrs.dims[0]);
  Box result = box;
  result.push_back(full(from.back()));
  const int64_t reach = (from.back().value() - 1) * attrs.steps[1];
  const int64_t low =
      std::max<int64_t>(0, (box[dim].start - reach + attrs.steps[0] - 1) / attrs.steps[0]);
  const int64_t high = std::min(from[dim].value() - 1, box[dim].last() / attrs.steps[0]);
  result[dim] = {low, high - low + 1, 1};
  return result;
}

Box movement_box(const Graph& graph, const Node& node, size_t which, const Box& box) {
  const Shape& from = graph[node.inputs[which]].shape;
  const Attrs& attrs = node.attrs;
  Box result = box;
  switch (node.op) {
    case Op::Reshape:
      return reshape_box(from, node.shape, box);
    case Op::Permute:
      for (size_t i = 0; i < box.size(); ++i) result[static_cast<size_t>(attrs.dims[i])] = box[i];
      return result;
    case Op::Expand:
      return expand_box(from, box);
    case Op::Slice:
      for (size_t i = 0; i < box.size(); ++i) {
        result[i] = {attrs.starts[i].value() + box[i].start * attrs.steps[i], box[i].count,
                     box[i].step * attrs.steps[i]};
      }
      return result;
    case Op::Pad:
      for (size_t i = 0; i < box.size(); ++i) {
        const int64_t low = attrs.starts[i].value();
        result[i] = intersect(box[i], low, low + from[i].value());
      }
      return result;
    case Op::Flip:
      for (int dim : attrs.dims) {
        Range& range = result[static_cast<size_t>(dim)];
        range.start = from[static_cast<size_t>(dim)].value() - 1 - range.last();
      }
      return result;
    case Op::Fold:
      return fold_box(attrs, from, box);
    case Op::Concat:
      return concat_box(graph, node, which, box);
    default:
      return whole_box(from);
  }
}

}  // namespace

Box whole_box(const Shape& shape) {
  Box box;
  for (const Dim& dim : shape) box.push_back(full(dim));
  return box;
}

void add_box(Demand& demand, Box box, const Shape& shape) {
  for (Range& range : box) {
    if (range.count <= 0) return;
    if (range.count == 1) range.step = 1;
  }
  if (contains(demand.boxes, box)) return;
  const Box whole = whole_box(shape);
  if (box == whole || demand.boxes.size() >= kMostBoxes) {
    demand.boxes = {whole};
  } else if (demand.boxes.empty() || demand.boxes[0] != whole) {
    demand.boxes.push_back(std::move(box));
  }
}

double box_elements(const Demand& demand, const Shape& shape) {
  const std::vector<Box>& boxes = demand.boxes;
  if (boxes.empty()) return 0;
  double sum = 0;
  bool strided = false;
  for (const Box& box : boxes) {
    sum += volume(box);
    strided =
        strided || std::ranges::any_of(box, [](const Range& range) { return range.step != 1; });
  }
  if (!strided && boxes.size() > 1) {
    const double exact = grid_union(boxes);
    if (exact >= 0) return exact;
  }
  return all_disjoint(boxes) ? sum : std::min(sum, total(shape));
}

double demanded_elements(const Demand& demand, const Shape& shape) {
  return std::min(box_elements(demand, shape) + demand.gathered, total(shape));
}

namespace {

Box input_box(const Graph& graph, const Node& node, size_t which, const Box& box) {
  const Shape& from = graph[node.inputs[which]].shape;
  Box result = box;
  switch (op_info(node.op).kind) {
    case OpKind::Pointwise:
      return result;
    case OpKind::Reduction:
    case OpKind::Selection:
      for (int dim : node.attrs.dims) {
        result[static_cast<size_t>(dim)] = full(from[static_cast<size_t>(dim)]);
      }
      return result;
    case OpKind::Scan: {
      const auto dim = static_cast<size_t>(node.attrs.dims[0]);
      const int64_t low = node.attrs.reverse ? box[dim].start : 0;
      const int64_t high = node.attrs.reverse ? from[dim].value() : box[dim].last() + 1;
      result[dim] = {low, high - low, 1};
      return result;
    }
    case OpKind::Contraction:
      return matmul_box(from, which, box);
    case OpKind::Movement:
      return movement_box(graph, node, which, box);
    default:
      return whole_box(from);
  }
}

}  // namespace

std::vector<Box> input_boxes(const Graph& graph, const Node& node, size_t which, const Box& box) {
  if (node.op == Op::Window) return window_boxes(node.attrs, box);
  return {input_box(graph, node, which, box)};
}

}  // namespace kw::graph
