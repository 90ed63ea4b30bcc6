// The gradients of movements, windows and matrix products. A movement sends each element to a
// place, so its gradient comes back from there: each movement has an inverse movement, and Expand
// has a sum. Window and Fold are each other's gradient. A Gather with one index per line becomes a
// comparison instead of a Scatter, because a Scatter needs atomics in a kernel. A matrix that
// served a whole batch gets one product over the joined batch, instead of many products and their
// sum. The cost: that product needs a permutation of both operands.
#include <algorithm>

#include "core/contains.h"
#include "graph/compose_index.h"
#include "graph/derive_tape.h"

namespace kw::graph {

namespace {

size_t at(int dim) { return static_cast<size_t>(dim); }

// The dims of `to` over which `from` was expanded.
std::vector<int> spread_dims(const Shape& from, const Shape& to) {
  const size_t ahead = to.size() - from.size();
  std::vector<int> dims;
  for (size_t i = 0; i < to.size(); ++i) {
    const bool grew = i < ahead || !(from[i - ahead] == to[i]) ||
                      (from[i - ahead].same_text(Dim(1)) && !to[i].same_text(Dim(1)));
    if (grew) dims.push_back(static_cast<int>(i));
  }
  return dims;
}

Result<NodeId> unexpand(Builder& b, NodeId g, const Shape& from) {
  const Shape to = b[g].shape;
  const std::vector<int> dims = spread_dims(from, to);
  const NodeId sum = dims.empty() ? g : KW_TRY(b.reduce(Op::Sum, g, dims, true));
  return b.reshape(sum, from);
}

Result<NodeId> unpermute(Builder& b, NodeId g, const std::vector<int>& dims) {
  std::vector<int> back(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) back[at(dims[i])] = static_cast<int>(i);
  return b.permute(g, back);
}

Result<NodeId> padded(Builder& b, NodeId x, const std::vector<Dim>& front, const Shape& shape) {
  Node node{Op::Pad, {x}, b.dtype(x), shape, {}, "", 0, 0};
  node.attrs.starts = front;
  return b.add(std::move(node));
}

// Inserts zeros between the elements of one dim: pads each to a row of `step`, joins the rows, and
// cuts the last one.
Result<NodeId> spaced(Builder& b, NodeId x, int dim, int64_t step) {
  Shape shape = b[x].shape;
  const Dim count = shape[at(dim)];
  Shape rows = shape;
  rows.insert(rows.begin() + dim + 1, Dim(1));
  NodeId y = KW_TRY(b.reshape(x, rows));
  rows[at(dim) + 1] = Dim(step);
  y = KW_TRY(padded(b, y, std::vector<Dim>(rows.size(), Dim(0)), rows));
  shape[at(dim)] = count * Dim(step);
  y = KW_TRY(b.reshape(y, shape));
  return b.slice(y, dim, Dim(0), (count - Dim(1)) * Dim(step) + Dim(1));
}

Result<NodeId> unslice(Builder& b, NodeId g, const Node& node, const Shape& from) {
  if (count_of(node.shape) == Dim(0)) return b.expand(b.constant(node.dtype, 0), from);
  for (size_t i = 0; i < from.size(); ++i) {
    if (node.attrs.steps[i] > 1) g = KW_TRY(spaced(b, g, static_cast<int>(i), node.attrs.steps[i]));
  }
  return padded(b, g, node.attrs.starts, from);
}

Result<NodeId> unpad(Builder& b, NodeId g, const Node& node, const Shape& from) {
  Node slice{Op::Slice, {g}, node.dtype, from, {}, "", 0, 0};
  slice.attrs.starts = node.attrs.starts;
  slice.attrs.steps.assign(from.size(), 1);
  return b.add(std::move(slice));
}

// Window and Fold are each other's derivative.
Result<NodeId> turned(Builder& b, NodeId g, const Node& node, Op op, const Shape& from) {
  return b.add({op, {g}, node.dtype, from, node.attrs, "", 0, 0});
}

Status unconcat(Tape& tape, NodeId g, const Node& node) {
  const int dim = node.attrs.dims[0];
  Dim start(0);
  for (const NodeId input : node.inputs) {
    const Dim stop = start + tape.forward[input].shape[at(dim)];
    if (tape.needs_gradient(input)) {
      const NodeId piece = KW_TRY(tape.b.slice(g, dim, start, stop));
      KW_TRY(tape.give(input, tape.b.reshape(piece, tape.forward[input].shape)));
    }
    start = stop;
  }
  return Done{};
}

// With one index per line, a comparison replaces a scatter.
Result<NodeId> ungather(Tape& tape, NodeId g, const Node& node) {
  Builder& b = tape.b;
  const NodeId x = node.inputs[0], index = node.inputs[1];
  const int dim = node.attrs.dims[0];
  const NodeId zeros = KW_TRY(zeros_like(b, x));
  if (node.op == Op::Gather && b.extent(index, dim).same_text(Dim(1))) {
    const NodeId hit = KW_TRY(one_hot_along(b, x, dim, index));
    const NodeId all = KW_TRY(b.expand(g, tape.forward[x].shape));
    return b.where(hit, Operand::tensor(all), Operand::tensor(zeros));
  }
  NodeId places = index;
  if (node.op == Op::IndexSelect) {
    Shape line(node.shape.size(), Dim(1));
    line[at(dim)] = b.extent(index, 0);
    places = KW_TRY(b.reshape(index, line));
    places = KW_TRY(b.expand(places, node.shape));
  }
  Node scatter{Op::Scatter, {zeros, places, g}, node.dtype, {}, {}, "", 0, 0};
  scatter.attrs.dims = {dim};
  scatter.attrs.scatter = ScatterMode::Add;
  return b.add(std::move(scatter));
}

Result<NodeId> moved_back(Tape& tape, NodeId g, const Node& node, const Shape& from) {
  Builder& b = tape.b;
  switch (node.op) {
    case Op::Reshape:
      return b.reshape(g, from);
    case Op::Permute:
      return unpermute(b, g, node.attrs.dims);
    case Op::Expand:
      return unexpand(b, g, from);
    case Op::Slice:
      return unslice(b, g, node, from);
    case Op::Pad:
      return unpad(b, g, node, from);
    case Op::Flip:
      return b.add({Op::Flip, {g}, node.dtype, {}, node.attrs, "", 0, 0});
    case Op::Window:
      return turned(b, g, node, Op::Fold, from);
    case Op::Fold:
      return turned(b, g, node, Op::Window, from);
    default:
      return ungather(tape, g, node);
  }
}

Result<NodeId> transposed(Builder& b, NodeId x) {
  std::vector<int> dims(at(b.rank(x)));
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = static_cast<int>(i);
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return b.permute(x, dims);
}

// [..., M, K] with these batch dims moved in front of K: [rest ..., M, batch * K].
Result<NodeId> batch_into_columns(Builder& b, NodeId x, const std::vector<int>& batch) {
  const int rank = b.rank(x);
  std::vector<int> order;
  Shape shape;
  Dim columns = b.extent(x, rank - 1);
  for (int i = 0; i < rank - 1; ++i) {
    if (contains(batch, i)) continue;
    order.push_back(i);
    shape.push_back(b.extent(x, i));
  }
  for (const int i : batch) {
    order.push_back(i);
    columns = columns * b.extent(x, i);
  }
  order.push_back(rank - 1);
  shape.push_back(columns);
  const NodeId turned_x = KW_TRY(b.permute(x, order));
  return b.reshape(turned_x, shape);
}

// The gradient of one operand: left [..., M, K] times right [..., N, K] transposed. If the operand
// was one matrix for a whole batch, the sum runs over the batch too. Then there is one product
// instead of many and their sum.
Status give_product(Tape& tape, NodeId operand, NodeId left, NodeId right) {
  Builder& b = tape.b;
  const Node& node = tape.forward[operand];
  std::vector<int> batch;
  NodeId target = operand;
  if (node.op == Op::Expand && tape.users(operand).size() == 1) {
    const Shape from = tape.forward[node.inputs[0]].shape;
    const std::vector<int> dims = spread_dims(from, node.shape);
    const int rank = static_cast<int>(node.shape.size());
    if (!dims.empty() && dims.back() < rank - 2) {
      batch = dims;
      target = node.inputs[0];
    }
  }
  if (!batch.empty()) {
    left = KW_TRY(batch_into_columns(b, left, batch));
    right = KW_TRY(batch_into_columns(b, right, batch));
  }
  const NodeId across = KW_TRY(transposed(b, right));
  const NodeId product =
      KW_TRY(b.add({Op::MatMul, {left, across}, b.dtype(left), {}, {}, "", 0, 0}));
  return tape.give(target, b.reshape(product, tape.forward[target].shape));
}

}  // namespace

Status derive_movement(Tape& tape, NodeId y, NodeId g) {
  const Node& node = tape.forward[y];
  if (node.op == Op::Concat) return unconcat(tape, g, node);
  const NodeId x = node.inputs[0];
  return tape.give(x, moved_back(tape, g, node, tape.forward[x].shape));
}

Status derive_mat_mul(Tape& tape, NodeId y, NodeId g) {
  const NodeId a = tape.forward[y].inputs[0], c = tape.forward[y].inputs[1];
  // d a = g c^T: g is [M, N] and c is [K, N]. d c = a^T g: a^T is [K, M] and g^T is [N, M].
  if (tape.needs_gradient(a)) KW_TRY(give_product(tape, a, g, c));
  if (tape.needs_gradient(c)) {
    const NodeId left = KW_TRY(transposed(tape.b, a));
    const NodeId right = KW_TRY(transposed(tape.b, g));
    KW_TRY(give_product(tape, c, left, right));
  }
  return Done{};
}

}  // namespace kw::graph
