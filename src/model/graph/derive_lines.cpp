// The gradients of reductions, scans and selections along a line of elements. The simple formulas
// fail at special values: a product divides by its factors, a maximum has ties, a logarithm
// overflows. So a product uses exclusive scans from both sides, which is right at zeros. A scan of
// products treats the first zero apart, and logarithms keep positive and negative gradients apart.
// Ties follow PyTorch: one element when the call reports an index, equal shares otherwise. Dividing
// by the factor would be cheaper, but gives NaN at zero. The cost: two scans instead of one
// division.
#include <algorithm>
#include <limits>

#include "core/contains.h"
#include "graph/derive_tape.h"

namespace kw::graph {

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

// The layout that puts the reduced dims into one last dim, and its inverse.
struct Flat {
  std::vector<int> order;  // of the permutation
  Shape permuted, flat;
};

Flat flat_of(const Shape& shape, const std::vector<int>& dims) {
  Flat line;
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    if (!contains(dims, i)) line.order.push_back(i);
  }
  Dim count(1);
  for (const int dim : line.order) line.flat.push_back(shape[static_cast<size_t>(dim)]);
  for (const int dim : dims) {
    line.order.push_back(dim);
    count = count * shape[static_cast<size_t>(dim)];
  }
  for (const int dim : line.order) line.permuted.push_back(shape[static_cast<size_t>(dim)]);
  line.flat.push_back(count);
  return line;
}

Result<NodeId> flattened(Builder& b, NodeId x, const Flat& line) {
  const NodeId y = KW_TRY(b.permute(x, line.order));
  return b.reshape(y, line.flat);
}

Result<NodeId> restored(Builder& b, NodeId x, const Flat& line) {
  const NodeId y = KW_TRY(b.reshape(x, line.permuted));
  std::vector<int> back(line.order.size());
  for (size_t i = 0; i < back.size(); ++i)
    back[static_cast<size_t>(line.order[i])] = static_cast<int>(i);
  return b.permute(y, back);
}

// torch.max(x, dim) and pooling give the gradient to the index they report. amax and max over all
// elements share it evenly.
bool follows_index(const Node& node, size_t rank) {
  const std::string_view name = called(node);
  if (name.find("pool") != name.npos) return true;
  const bool named = name == "max" || name == "min";
  return named && node.attrs.dims.size() < rank;
}

// Gives the gradient to the first extremum, found as an index along the line.
Status to_first(Tape& tape, NodeId y, NodeId g) {
  Builder& b = tape.b;
  const Node& node = tape.forward[y];
  const NodeId x = node.inputs[0];
  const Shape shape = tape.forward[x].shape;
  const bool single = node.attrs.dims.size() == 1;
  const Flat line = flat_of(shape, node.attrs.dims);
  const NodeId row = single ? x : KW_TRY(flattened(b, x, line));
  const int dim = single ? node.attrs.dims[0] : b.rank(row) - 1;
  const NodeId index =
      KW_TRY(b.reduce(node.op == Op::Max ? Op::ArgMax : Op::ArgMin, row, {dim}, true));
  NodeId hit = KW_TRY(one_hot_along(b, row, dim, index));
  if (!single) hit = KW_TRY(restored(b, hit, line));
  const NodeId all = KW_TRY(b.expand(g, shape));
  const NodeId zeros = KW_TRY(zeros_like(b, x));
  return tape.give(x, b.where(hit, Operand::tensor(all), Operand::tensor(zeros)));
}

Status evenly(Tape& tape, NodeId y, NodeId g) {
  const NodeId x = tape.forward[y].inputs[0];
  Formula f(tape.b);
  const Term hit = f(x) == f(y);
  const Term count =
      reduce(Op::Sum, cast(hit, opmath(tape.b.dtype(x))), tape.forward[y].attrs.dims);
  const Term share = wide(f(g)) / count;
  const Term zero = f(tape.b.constant(opmath(tape.b.dtype(x)), 0));
  return tape.give(f, x, where(hit, share, zero));
}

// The product of all other factors: those in front times those behind. Also right when some are 0.
Status of_product(Tape& tape, NodeId y, NodeId g) {
  Builder& b = tape.b;
  const Node& node = tape.forward[y];
  const NodeId x = node.inputs[0];
  const Shape shape = tape.forward[x].shape;
  const Flat line = flat_of(shape, node.attrs.dims);
  const NodeId row = KW_TRY(flattened(b, x, line));
  Formula f(b);
  const NodeId w = KW_TRY(f.done(wide(f(row))));
  const int dim = b.rank(row) - 1;
  const NodeId before = KW_TRY(b.scan(Op::CumProd, w, dim, false, true));
  const NodeId behind = KW_TRY(b.scan(Op::CumProd, w, dim, true, true));
  const NodeId others = KW_TRY(f.done(f(before) * f(behind)));
  const NodeId back = KW_TRY(restored(b, others, line));
  return tape.give(f, x, wide(f(g)) * f(back));
}

Result<NodeId> shifted_by_one(Builder& b, NodeId g, int dim, bool reverse) {
  const Shape shape = b[g].shape;
  const Dim extent = shape[static_cast<size_t>(dim)];
  const NodeId rest =
      KW_TRY(reverse ? b.slice(g, dim, Dim(0), extent - Dim(1)) : b.slice(g, dim, Dim(1), extent));
  Node pad{Op::Pad, {rest}, b.dtype(g), shape, {}, "", 0, 0};
  pad.attrs.starts.assign(shape.size(), Dim(0));
  if (reverse) pad.attrs.starts[static_cast<size_t>(dim)] = 1;
  return b.add(std::move(pad));
}

// Before the first zero, the running products are divided by the factor. The first zero gets the
// products without it. Elements behind it get 0.
Status of_cum_prod(Tape& tape, NodeId y, NodeId g) {
  Builder& b = tape.b;
  const Attrs attrs = tape.forward[y].attrs;
  const NodeId x = tape.forward[y].inputs[0];
  const int dim = attrs.dims[0];
  if (attrs.exclusive) g = KW_TRY(shifted_by_one(b, g, dim, attrs.reverse));
  Formula f(b);
  const auto scanned = [&](Op op, const Term& t, bool reverse) {
    if (f.failed()) return t;
    return f(b.scan(op, t.value.node, dim, reverse));
  };
  const Term w = wide(f(x)), up = wide(f(g));
  const DType work = dtype_of(w);
  const Term one = f(b.constant(work, 1)), none = f(b.constant(work, 0));
  const Term empty = w == Term(0.0);
  const Term zeros = scanned(Op::CumSum, cast(empty, DType::Int64), attrs.reverse);
  const Term first = empty & (zeros == Term(1));
  const Term plain =
      scanned(Op::CumSum, up * scanned(Op::CumProd, w, attrs.reverse), !attrs.reverse) / w;
  const Term without = up * scanned(Op::CumProd, where(first, one, w), attrs.reverse);
  const Term behind = scanned(Op::CumSum, where(zeros >= Term(1), without, none), !attrs.reverse);
  return tape.give(f, x, where(zeros == Term(0), plain, where(first, behind, none)));
}

// Works in logarithms, with positive and negative gradients apart, so that no term overflows.
Status of_cum_log_sum_exp(Tape& tape, NodeId y, NodeId g) {
  Builder& b = tape.b;
  const Attrs attrs = tape.forward[y].attrs;
  const NodeId x = tape.forward[y].inputs[0];
  Formula f(b);
  const Term up = wide(f(g)), w = wide(f(x)), total = wide(f(y));
  const auto part = [&](const Term& size, const Term& has) {
    const Term nothing = f(b.constant(dtype_of(up), -kUnbounded));
    const Term log = where(has, apply(Op::Log, size), nothing) - total;
    if (f.failed()) return log;
    const Term sums = f(b.scan(Op::CumLogSumExp, log.value.node, attrs.dims[0], !attrs.reverse));
    return apply(Op::Exp, sums + w);
  };
  const Term zero(0.0);
  return tape.give(f, x, part(up, up > zero) - part(-up, up < zero));
}

// Each gradient goes to the place that its value came from.
Status to_places(Tape& tape, NodeId y, NodeId g, Op indices) {
  Builder& b = tape.b;
  const Node node = tape.forward[y];
  const NodeId x = node.inputs[0];
  const NodeId index =
      KW_TRY(b.add({indices, {x}, DType::Int64, node.shape, node.attrs, "", 0, 0}));
  const NodeId zeros = KW_TRY(zeros_like(b, x));
  Node scatter{Op::Scatter, {zeros, index, g}, node.dtype, {}, {}, "", 0, 0};
  scatter.attrs.dims = node.attrs.dims;
  scatter.attrs.scatter = ScatterMode::Add;
  return tape.give(x, b.add(std::move(scatter)));
}

}  // namespace

Status derive_reduction(Tape& tape, NodeId y, NodeId g) {
  const Node& node = tape.forward[y];
  const NodeId x = node.inputs[0];
  switch (node.op) {
    case Op::Sum:
      return tape.give(x, tape.b.expand(g, tape.forward[x].shape));
    case Op::Prod:
      return of_product(tape, y, g);
    case Op::Max:
    case Op::Min:
      // Rounded values have no meaningful ties to share among. A comparison with their maximum
      // would make every maximum doubtful.
      if (follows_index(node, tape.forward[x].shape.size()) || !tape.exact(x))
        return to_first(tape, y, g);
      return evenly(tape, y, g);
    default:
      return Done{};
  }
}

Status derive_scan(Tape& tape, NodeId y, NodeId g) {
  const Node& node = tape.forward[y];
  switch (node.op) {
    case Op::CumSum:
      return tape.give(node.inputs[0], tape.b.scan(Op::CumSum, g, node.attrs.dims[0],
                                                   !node.attrs.reverse, node.attrs.exclusive));
    case Op::CumProd:
      return of_cum_prod(tape, y, g);
    case Op::CumMax:
      return to_places(tape, y, g, Op::CumMaxIndex);
    case Op::CumMin:
      return to_places(tape, y, g, Op::CumMinIndex);
    case Op::CumLogSumExp:
      return of_cum_log_sum_exp(tape, y, g);
    default:
      return Done{};
  }
}

Status derive_selection(Tape& tape, NodeId y, NodeId g) {
  const Op op = tape.forward[y].op;
  if (op == Op::SortValues) return to_places(tape, y, g, Op::SortIndices);
  if (op == Op::TopKValues) return to_places(tape, y, g, Op::TopKIndices);
  return Done{};
}

}  // namespace kw::graph
