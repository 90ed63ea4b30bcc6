// Movement that joins tensors: concatenation, repetition, rotation, padding. All of it is composed
// of Concat, Pad, slices and expansions, so no further primitive is needed. A repetition inserts a
// dim, expands it and reshapes, which moves no data until a kernel reads it. Padding by a number is
// one Pad node; padding from the tensor itself joins slices of it. Index tensors could express all
// of these, but would hide the regular access from code generators. The cost: the sign and size of
// each pad and shift become guards of the trace.
#include <algorithm>

#include "graph/compose_move.h"

namespace kw::graph {

namespace {

// PyTorch still allows an empty vector in any concatenation.
bool is_skipped(const Builder& b, NodeId x) {
  return b.rank(x) == 1 && b.extent(x, 0).same_text(Dim(0));
}

Status check_joinable(Builder& b, const std::vector<NodeId>& tensors, int dim) {
  const Shape first = b[tensors[0]].shape;
  for (size_t i = 1; i < tensors.size(); ++i) {
    const Shape other = b[tensors[i]].shape;
    if (other.size() != first.size()) {
      return input_error("Tensors must have same number of dimensions: got {} and {}", first.size(),
                         other.size());
    }
    for (size_t d = 0; d < first.size(); ++d) {
      if (static_cast<int>(d) == dim) continue;
      if (!(other[d] == first[d])) {
        return input_error(
            "Sizes of tensors must match except in dimension {}. Expected size {} but got size {} "
            "for tensor number {} in the list.",
            dim, first[d].value(), other[d].value(), i);
      }
      b.guard_equal(other[d], first[d]);
    }
  }
  return Done{};
}

Result<NodeId> concat(Builder& b, std::vector<NodeId> tensors, int dim) {
  if (tensors.size() == 1) return tensors[0];
  Node node{Op::Concat, std::move(tensors), DType::Fp32, {}, {}, "", 0, 0};
  node.attrs.dims = {dim};
  return b.add(std::move(node));
}

Result<NodeId> roll_one(Builder& b, NodeId x, const Dim& shift, int dim) {
  const Dim extent = b.extent(x, dim);
  if (extent == Dim(0)) return x;
  // A shift within the extent keeps its own text; only a larger shift is reduced modulo the extent.
  Dim back = shift;
  if (shift.value() < -extent.value() || shift.value() > extent.value()) {
    back = remainder(shift, extent);
  } else if (shift.value() < 0) {
    b.guard_at_most(Dim(0) - shift, extent);
    back = extent + shift;
  }
  b.guard_at_most(back, extent);
  const NodeId tail = KW_TRY(b.slice(x, dim, extent - back, extent));
  const NodeId head = KW_TRY(b.slice(x, dim, 0, extent - back));
  if (tail == x || head == x) return x;
  return concat(b, {tail, head}, dim);
}

struct Edge {
  Dim front, back;
};

Error too_much(const Builder& b, NodeId x, const Edge& edge, int dim) {
  return input_error(
      "Padding size should be less than the corresponding input dimension, but got: padding ({}, "
      "{}) at dimension {} of input {}",
      edge.front.value(), edge.back.value(), dim, shape_text(b[x].shape));
}

// The padding of width `size` in front of (or behind) x along one dim.
Result<NodeId> margin(Builder& b, NodeId x, int dim, const Dim& size, bool front, PadMode mode) {
  const Dim extent = b.extent(x, dim);
  b.guard_at_most(mode == PadMode::Replicate ? Dim(1) : size,
                  mode == PadMode::Reflect ? extent - Dim(1) : extent);
  if (mode == PadMode::Circular) {
    return front ? b.slice(x, dim, extent - size, extent) : b.slice(x, dim, 0, size);
  }
  if (mode == PadMode::Reflect) {
    const Dim start = front ? Dim(1) : extent - Dim(1) - size;
    const NodeId part = KW_TRY(b.slice(x, dim, start, start + size));
    return flip(b, part, {dim});
  }
  const Dim place = front ? Dim(0) : extent - Dim(1);
  const NodeId border = KW_TRY(b.slice(x, dim, place, place + Dim(1)));
  Shape shape = b[x].shape;
  shape[static_cast<size_t>(dim)] = size;
  return b.expand(border, std::move(shape));
}

Result<NodeId> pad_from_itself(Builder& b, NodeId x, int dim, const Edge& edge, PadMode mode) {
  const int64_t room = b.extent(x, dim).value() - (mode == PadMode::Reflect ? 1 : 0);
  const int64_t widest = std::max(edge.front.value(), edge.back.value());
  if (widest <= 0) return x;
  if (mode == PadMode::Circular && widest > room) {
    return input_error("Padding value causes wrapping around more than once.");
  }
  if (mode == PadMode::Reflect ? widest > room : b.extent(x, dim).value() == 0) {
    return too_much(b, x, edge, dim);
  }
  std::vector<NodeId> parts;
  if (edge.front.value() > 0) {
    parts.push_back(KW_TRY(margin(b, x, dim, edge.front, true, mode)));
  }
  parts.push_back(x);
  if (edge.back.value() > 0) {
    parts.push_back(KW_TRY(margin(b, x, dim, edge.back, false, mode)));
  }
  return concat(b, std::move(parts), dim);
}

// Negative pads cut elements off.
Result<NodeId> cut_edges(Builder& b, NodeId x, int dim, const Edge& edge) {
  const Dim extent = b.extent(x, dim);
  const Dim start = edge.front.value() < 0 ? Dim(0) - edge.front : Dim(0);
  const Dim stop = edge.back.value() < 0 ? extent + edge.back : extent;
  if (start.value() > stop.value()) {
    return input_error("padding ({}, {}) leaves nothing of dimension {} of size {}",
                       edge.front.value(), edge.back.value(), dim, extent.value());
  }
  b.guard_at_most(start, stop);
  return b.slice(x, dim, start, stop);
}

Result<NodeId> pad_with_number(Builder& b, NodeId x, const std::vector<Edge>& edges, double value) {
  Node node{Op::Pad, {x}, b.dtype(x), b[x].shape, {}, "", 0, 0};
  node.attrs.starts.assign(node.shape.size(), Dim(0));
  node.attrs.number = tensor::is_float(node.dtype) ? round_to(node.dtype, value) : value;
  bool wider = false;
  for (size_t i = 0; i < edges.size(); ++i) {
    const Dim front = edges[i].front.value() > 0 ? edges[i].front : Dim(0);
    const Dim back = edges[i].back.value() > 0 ? edges[i].back : Dim(0);
    node.attrs.starts[i] = front;
    node.shape[i] = node.shape[i] + front + back;
    wider = wider || (front + back).value() > 0;
  }
  return wider ? b.add(std::move(node)) : Result<NodeId>(x);
}

}  // namespace

Result<NodeId> cat(Builder& b, std::vector<NodeId> tensors, int dim) {
  if (tensors.empty()) return input_error("torch.cat(): expected a non-empty list of Tensors");
  std::vector<Operand> operands;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (b.rank(tensors[i]) == 0)
      return input_error("zero-dimensional tensor (at position {}) cannot be concatenated", i);
    operands.push_back(Operand::tensor(tensors[i]));
  }
  const DType type = KW_TRY(b.result_type(operands));
  const NodeId first = tensors[0];
  std::erase_if(tensors, [&](NodeId x) { return is_skipped(b, x); });
  if (tensors.empty()) return b.cast(first, type);
  const int at = KW_TRY(b.wrap_dim(dim, tensors[0]));
  KW_TRY(check_joinable(b, tensors, at));
  for (NodeId& x : tensors) x = b.cast(x, type);
  return concat(b, std::move(tensors), at);
}

Result<NodeId> stack(Builder& b, std::vector<NodeId> tensors, int dim) {
  if (tensors.empty()) return input_error("stack expects a non-empty TensorList");
  for (size_t i = 1; i < tensors.size(); ++i) {
    if (b[tensors[i]].shape != b[tensors[0]].shape) {
      return input_error(
          "stack expects each tensor to be equal size, but got {} at entry 0 and {} at entry {}",
          shape_text(b[tensors[0]].shape), shape_text(b[tensors[i]].shape), i);
    }
  }
  const int places = b.rank(tensors[0]) + 1;
  for (NodeId& x : tensors) x = KW_TRY(unsqueeze(b, x, dim));
  return cat(b, std::move(tensors), dim < 0 ? dim + places : dim);
}

Result<NodeId> repeat(Builder& b, NodeId x, const Shape& times) {
  const Shape from = b[x].shape;
  if (times.size() < from.size()) {
    return input_error(
        "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
        "tensor");
  }
  const size_t ahead = times.size() - from.size();
  Shape apart, wide, whole;
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i].value() < 0)
      return input_error("Trying to create tensor with negative dimension {}", times[i].value());
    const Dim extent = i < ahead ? Dim(1) : from[i - ahead];
    apart.insert(apart.end(), {Dim(1), extent});
    wide.insert(wide.end(), {times[i], extent});
    whole.push_back(times[i] * extent);
  }
  const NodeId spread = KW_TRY(b.reshape(x, apart));
  const NodeId repeated = KW_TRY(b.expand(spread, wide));
  return b.reshape(repeated, whole);
}

Result<NodeId> tile(Builder& b, NodeId x, const Shape& times) {
  Shape all = times;
  while (static_cast<int>(all.size()) < b.rank(x)) all.insert(all.begin(), Dim(1));
  return repeat(b, x, all);
}

Result<NodeId> repeat_interleave(Builder& b, NodeId x, const Dim& times, std::optional<int> dim) {
  if (times.value() < 0) return input_error("repeats can not be negative");
  if (!dim) {
    x = KW_TRY(b.reshape(x, {-1}));
    dim = 0;
  }
  const int at = KW_TRY(b.wrap_dim(*dim, x));
  if (b.rank(x) == 0) x = KW_TRY(b.reshape(x, {1}));
  Shape apart = b[x].shape, wide = b[x].shape, whole = b[x].shape;
  apart.insert(apart.begin() + at + 1, Dim(1));
  wide.insert(wide.begin() + at + 1, times);
  whole[static_cast<size_t>(at)] = whole[static_cast<size_t>(at)] * times;
  const NodeId spread = KW_TRY(b.reshape(x, apart));
  const NodeId repeated = KW_TRY(b.expand(spread, wide));
  return b.reshape(repeated, whole);
}

Result<NodeId> roll(Builder& b, NodeId x, const std::vector<Dim>& shifts, const Dims& dims) {
  if (dims.empty() && shifts.size() == 1) {
    const NodeId flat = KW_TRY(b.reshape(x, {count_of(b[x].shape)}));
    const NodeId rolled = KW_TRY(roll_one(b, flat, shifts[0], 0));
    return b.reshape(rolled, b[x].shape);
  }
  if (shifts.size() != dims.size() || shifts.empty()) {
    return input_error("shifts and dimensions must align. shifts: {}, dims:{}", shifts.size(),
                       dims.size());
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const int at = KW_TRY(b.wrap_dim(dims[i], x));
    if (b.rank(x) == 0) return x;
    x = KW_TRY(roll_one(b, x, shifts[i], at));
  }
  return x;
}

Result<NodeId> pad(Builder& b, NodeId x, const std::vector<Dim>& pads, PadMode mode, double value) {
  const size_t rank = b[x].shape.size();
  if (pads.size() % 2 != 0) return input_error("Padding length must be divisible by 2");
  if (pads.size() / 2 > rank) {
    return input_error(
        "Padding length should be less than or equal to two times the input dimension but got "
        "padding length {} and input of dimension {}",
        pads.size(), rank);
  }
  const size_t padded = pads.size() / 2;
  if (mode != PadMode::Constant && rank != padded + 1 && rank != padded + 2) {
    return input_error(
        "Padding size {} is not supported for {}D input tensor: without mode='constant' it pads "
        "the last {} of {} or {} dimensions",
        pads.size(), rank, padded, padded + 1, padded + 2);
  }
  std::vector<Edge> edges(rank, Edge{0, 0});
  for (size_t i = 0; i < padded; ++i) {
    edges[rank - 1 - i] = Edge{pads[2 * i], pads[2 * i + 1]};
  }
  for (size_t i = 0; i < rank; ++i) {
    x = KW_TRY(cut_edges(b, x, static_cast<int>(i), edges[i]));
  }
  if (mode == PadMode::Constant) return pad_with_number(b, x, edges, value);
  for (size_t i = 0; i < rank; ++i) {
    x = KW_TRY(pad_from_itself(b, x, static_cast<int>(i), edges[i], mode));
  }
  return x;
}

}  // namespace kw::graph
