// PyTorch has many ways to choose elements by index; graphs have three: Gather, IndexSelect and
// Scatter. Every function here reduces its case to one of them with reshapes, expansions and
// slices. Several index tensors become one joint index into the flattened dims. More primitives
// would give shorter graphs, but each would need an interpreter, a derivative and code. Negative
// indices are handled by a select in the graph, because their values are unknown at trace time.
// Masks as indices are refused: the shape of their result depends on values. The cost: extra
// integer arithmetic per index.
#include "graph/compose_index.h"

#include <numeric>

#include "graph/compose_move.h"
#include "graph/term.h"

namespace kw::graph {

namespace {

Result<NodeId> index_tensor(Builder& b, NodeId index, const char* what, bool int32_too) {
  if (b.dtype(index) == DType::Int64) return index;
  if (int32_too && b.dtype(index) == DType::Int32) return b.cast(index, DType::Int64);
  return input_error("{}(): Expected dtype {} for index", what,
                     int32_too ? "int32 or int64" : "int64");
}

Result<NodeId> lookup(Builder& b, Op op, NodeId x, NodeId index, int dim) {
  Node node{op, {x, index}, b.dtype(x), {}, {}, "", 0, 0};
  node.attrs.dims = {dim};
  return b.add(std::move(node));
}

// Cuts x to the extents of the index, except along the dim that is looked up.
Result<NodeId> cut_to(Builder& b, NodeId x, NodeId index, int except, const char* what) {
  for (int i = 0; i < b.rank(x); ++i) {
    if (i == except) continue;
    const Dim have = b.extent(x, i), want = b.extent(index, i);
    if (want.value() > have.value()) {
      return input_error(
          "{}: Size does not match at dimension {} expected index {} to be no larger than {} apart "
          "from dimension {}",
          what, i, shape_text(b[index].shape), shape_text(b[x].shape), except);
    }
    if (want == have) {
      b.guard_equal(want, have);
    } else {
      b.guard_at_most(want, have);
      x = KW_TRY(b.slice(x, i, 0, want));
    }
  }
  return x;
}

Status same_rank(const Builder& b, NodeId x, NodeId index) {
  if (b.rank(x) == b.rank(index)) return Done{};
  return input_error("Index tensor must have the same number of dimensions as input tensor");
}

Result<NodeId> at_least_1d(Builder& b, NodeId x) {
  return b.rank(x) == 0 ? b.reshape(x, {1}) : Result<NodeId>(x);
}

// Makes negative indices count from the end.
Result<NodeId> from_front(Builder& b, NodeId index, const Dim& extent) {
  Formula f(b);
  return f.done(where(f(index) < Term(0), f(index) + extent, f(index)));
}

Result<NodeId> scatter_node(Builder& b, NodeId x, int dim, NodeId index, NodeId source,
                            ScatterMode mode) {
  Node node{Op::Scatter, {x, index, source}, b.dtype(x), {}, {}, "", 0, 0};
  node.attrs.dims = {dim};
  node.attrs.scatter = mode;
  return b.add(std::move(node));
}

// For index_add and similar functions: one index per slice, expanded over the whole source.
Result<NodeId> scatter_slices(Builder& b, NodeId x, int dim, NodeId index, NodeId source,
                              ScatterMode mode, const char* what) {
  const NodeId line = KW_TRY(index_tensor(b, index, what, true));
  const NodeId flat = KW_TRY(at_least_1d(b, line));
  if (b.rank(flat) != 1) return input_error("{}(): Index is supposed to be a vector", what);
  const Shape shape = b[x].shape;
  if (shape.empty()) {
    const NodeId vector = KW_TRY(b.reshape(x, {1}));
    const NodeId values = KW_TRY(b.reshape(source, {b.extent(flat, 0)}));
    const NodeId result = KW_TRY(scatter_node(b, vector, 0, flat, values, mode));
    return b.reshape(result, {});
  }
  if (b.dtype(source) != b.dtype(x)) {
    return input_error("{}(): self ({}) and source ({}) must have the same scalar type", what,
                       torch_name(b.dtype(x)), torch_name(b.dtype(source)));
  }
  Shape want = shape, ones(shape.size(), Dim(1));
  want[static_cast<size_t>(dim)] = b.extent(flat, 0);
  ones[static_cast<size_t>(dim)] = b.extent(flat, 0);
  if (b[source].shape != want) {
    return input_error("{}(): source has shape {}, expected {}", what, shape_text(b[source].shape),
                       shape_text(want));
  }
  const NodeId lined = KW_TRY(b.reshape(flat, ones));
  const NodeId spread = KW_TRY(b.expand(lined, b[source].shape));
  return scatter_node(b, x, dim, spread, source, mode);
}

}  // namespace

Result<NodeId> gather(Builder& b, NodeId x, int dim, NodeId index) {
  const NodeId places = KW_TRY(index_tensor(b, index, "gather", false));
  const int at = KW_TRY(b.wrap_dim(dim, x));
  const Shape shape = b[places].shape;
  const NodeId from = KW_TRY(at_least_1d(b, x));
  const NodeId full = KW_TRY(at_least_1d(b, places));
  KW_TRY(same_rank(b, from, full));
  const NodeId part = KW_TRY(cut_to(b, from, full, at, "gather()"));
  const NodeId result = KW_TRY(lookup(b, Op::Gather, part, full, at));
  return b.reshape(result, shape);
}

Result<NodeId> take_along_dim(Builder& b, NodeId x, NodeId index, std::optional<int> dim) {
  NodeId places = KW_TRY(index_tensor(b, index, "take_along_dim", false));
  if (!dim) {
    x = KW_TRY(b.reshape(x, {-1}));
    places = KW_TRY(b.reshape(places, {-1}));
    return gather(b, x, 0, places);
  }
  KW_TRY(same_rank(b, x, places));
  const int at = KW_TRY(b.wrap_dim(*dim, x));
  if (b.rank(x) == 0) return gather(b, x, at, places);
  Shape left = b[x].shape, right = b[places].shape;
  const auto place = static_cast<size_t>(at);
  const Dim table = left[place], wanted = right[place];
  left[place] = right[place] = 1;
  const std::vector<Shape> both = {left, right};
  Shape common = KW_TRY(b.broadcast_shapes(both));
  common[place] = table;
  const NodeId full = KW_TRY(b.expand(x, common));
  common[place] = wanted;
  const NodeId spread = KW_TRY(b.expand(places, common));
  return lookup(b, Op::Gather, full, spread, at);
}

Result<NodeId> index_select(Builder& b, NodeId x, int dim, NodeId index) {
  const NodeId places = KW_TRY(index_tensor(b, index, "index_select", true));
  if (b.rank(places) > 1) return input_error("index_select(): Index is supposed to be a vector");
  const int at = KW_TRY(b.wrap_dim(dim, x));
  const NodeId line = KW_TRY(at_least_1d(b, places));
  const NodeId from = KW_TRY(at_least_1d(b, x));
  const NodeId result = KW_TRY(lookup(b, Op::IndexSelect, from, line, at));
  return b.rank(x) == 0 ? b.reshape(result, {}) : Result<NodeId>(result);
}

Result<NodeId> embedding(Builder& b, NodeId index, NodeId weight) {
  if (b.rank(weight) != 2) return input_error("'weight' must be 2-D");
  const NodeId places = KW_TRY(index_tensor(b, index, "embedding", true));
  Shape shape = b[places].shape;
  shape.push_back(b.extent(weight, 1));
  const NodeId line = KW_TRY(b.reshape(places, {count_of(b[places].shape)}));
  const NodeId rows = KW_TRY(lookup(b, Op::IndexSelect, weight, line, 0));
  return b.reshape(rows, std::move(shape));
}

Result<NodeId> take(Builder& b, NodeId x, NodeId index) {
  const NodeId places = KW_TRY(index_tensor(b, index, "take", false));
  const Dim count = count_of(b[x].shape);
  const NodeId flat = KW_TRY(b.reshape(x, {count}));
  const NodeId wrapped = KW_TRY(from_front(b, places, count));
  const NodeId line = KW_TRY(b.reshape(wrapped, {count_of(b[places].shape)}));
  const NodeId result = KW_TRY(lookup(b, Op::IndexSelect, flat, line, 0));
  return b.reshape(result, b[places].shape);
}

// Moves the indexed dims to the front, joins them into one, and looks it up with one joint index.
// The dims of the index go where PyTorch puts them: in place when the indexed dims are adjacent,
// otherwise in front.
Result<NodeId> index(Builder& b, NodeId x, const std::vector<std::optional<NodeId>>& indices) {
  if (static_cast<int>(indices.size()) > b.rank(x))
    return input_error("too many indices for tensor of dimension {}", b.rank(x));
  Dims indexed, others;
  std::vector<NodeId> places;
  for (int i = 0; i < b.rank(x); ++i) {
    const auto at = static_cast<size_t>(i);
    if (at >= indices.size() || !indices[at]) {
      others.push_back(i);
      continue;
    }
    const DType type = b.dtype(*indices[at]);
    if (type == DType::Bool || type == DType::Uint8) {
      return input_error(
          "a mask as index gives a shape that depends on values; use torch.where instead");
    }
    if (!is_integer(type)) {
      return input_error("tensors used as indices must be long, int, byte or bool tensors");
    }
    indexed.push_back(i);
    const NodeId whole = b.cast(*indices[at], DType::Int64);
    places.push_back(KW_TRY(from_front(b, whole, b.extent(x, i))));
  }
  if (indexed.empty()) return x;
  const Shape shape = KW_TRY(b.broadcast(places));
  Formula f(b);
  Term joint = f(places[0]);
  Dim joined = b.extent(x, indexed[0]);
  for (size_t i = 1; i < places.size(); ++i) {
    joint = joint * b.extent(x, indexed[i]) + f(places[i]);
    joined = joined * b.extent(x, indexed[i]);
  }
  const NodeId spread = KW_TRY(f.done(joint));
  const NodeId full = KW_TRY(b.expand(spread, shape));
  const NodeId line = KW_TRY(b.reshape(full, {count_of(shape)}));
  Dims order = indexed;
  order.insert(order.end(), others.begin(), others.end());
  Shape table = {joined}, result = shape;
  for (int i : others) {
    table.push_back(b.extent(x, i));
    result.push_back(b.extent(x, i));
  }
  const NodeId front = KW_TRY(b.permute(x, order));
  const NodeId flat = KW_TRY(b.reshape(front, table));
  const NodeId rows = KW_TRY(lookup(b, Op::IndexSelect, flat, line, 0));
  const NodeId taken = KW_TRY(b.reshape(rows, result));
  const bool neighbours = indexed.back() - indexed.front() + 1 == static_cast<int>(indexed.size());
  if (!neighbours || indexed.front() == 0) return taken;
  Dims from(shape.size()), to(shape.size());
  std::iota(from.begin(), from.end(), 0);
  std::iota(to.begin(), to.end(), indexed.front());
  return movedim(b, taken, from, to);
}

Result<NodeId> scatter(Builder& b, NodeId x, int dim, NodeId index, Operand source,
                       ScatterMode mode) {
  const NodeId places = KW_TRY(index_tensor(b, index, "scatter", false));
  const int at = KW_TRY(b.wrap_dim(dim, x));
  const Shape shape = b[x].shape;
  const NodeId base = KW_TRY(at_least_1d(b, x));
  const NodeId full = KW_TRY(at_least_1d(b, places));
  KW_TRY(same_rank(b, base, full));
  NodeId values = -1;
  if (source.is_tensor()) {
    if (b.dtype(source.node) != b.dtype(x)) {
      return input_error("scatter(): Expected self.dtype to be equal to src.dtype");
    }
    values = KW_TRY(at_least_1d(b, source.node));
    KW_TRY(same_rank(b, values, full));
    values = KW_TRY(cut_to(b, values, full, -1, "scatter()"));
  } else {
    if (tensor::is_float(b.dtype(x)))
      source = Operand::of(round_to(b.dtype(x), Number(source.number, source.text)));
    const NodeId number = KW_TRY(b.as_tensor(source, b.dtype(x)));
    values = KW_TRY(b.expand(number, b[full].shape));
  }
  const NodeId result = KW_TRY(scatter_node(b, base, at, full, values, mode));
  return b.reshape(result, shape);
}

Result<NodeId> index_add(Builder& b, NodeId x, int dim, NodeId index, NodeId source,
                         Operand alpha) {
  const int at = KW_TRY(b.wrap_dim(dim, x));
  if (!alpha.is(1)) {
    Formula f(b);
    source = KW_TRY(f.done(f(source) * Term(alpha), b.dtype(source)));
  }
  return scatter_slices(b, x, at, index, source, ScatterMode::Add, "index_add");
}

Result<NodeId> index_copy(Builder& b, NodeId x, int dim, NodeId index, NodeId source) {
  const int at = KW_TRY(b.wrap_dim(dim, x));
  return scatter_slices(b, x, at, index, source, ScatterMode::Set, "index_copy");
}

namespace {

/// The number that fills elements of `x`, as a tensor.
Result<NodeId> filling(Builder& b, NodeId x, Operand value, const char* function) {
  if (value.is_tensor() && b.rank(value.node) != 0) {
    return input_error(
        "{} only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).",
        function, b.rank(value.node));
  }
  if (!value.is_tensor() && tensor::is_float(b.dtype(x)))
    value = Operand::of(round_to(b.dtype(x), Number(value.number, value.text)));
  return b.as_tensor(value, b.dtype(x));
}

}  // namespace

Result<NodeId> index_fill(Builder& b, NodeId x, int dim, NodeId index, Operand value) {
  const int at = KW_TRY(b.wrap_dim(dim, x));
  const NodeId number = KW_TRY(filling(b, x, value, "index_fill_"));
  Shape shape = b[x].shape;
  if (!shape.empty()) shape[static_cast<size_t>(at)] = count_of(b[index].shape);
  const NodeId source = KW_TRY(b.expand(number, shape));
  return scatter_slices(b, x, at, index, source, ScatterMode::Set, "index_fill");
}

Result<NodeId> masked_fill(Builder& b, NodeId x, NodeId mask, Operand value) {
  if (b.dtype(mask) != DType::Bool) {
    return input_error("masked_fill only supports boolean masks, but got mask with dtype " +
                       std::string(torch_name(b.dtype(mask))));
  }
  const NodeId number = KW_TRY(filling(b, x, value, "masked_fill"));
  return b.where(mask, Operand::tensor(number), Operand::tensor(x));
}

Result<NodeId> one_hot(Builder& b, NodeId index, const Dim& classes) {
  if (b.dtype(index) != DType::Int64) {
    return input_error("one_hot is only applicable to index tensor of type LongTensor.");
  }
  if (classes.value() < 1) return input_error("num_classes should be positive");
  const NodeId column = KW_TRY(unsqueeze(b, index, -1));
  Formula f(b);
  return f.done(f(column) == f(b.iota({classes}, 0, DType::Int64)), DType::Int64);
}

namespace {

Status check_probability(double p) {
  if (p >= 0 && p <= 1) return Done{};
  return input_error("dropout probability has to be between 0 and 1, but got {}", p);
}

}  // namespace

Result<NodeId> dropout_mask(Builder& b, NodeId x, NodeId mask, double p) {
  KW_TRY(check_probability(p));
  Formula f(b);
  const Term kept = wide(f(x)) * cast(f(mask), opmath(float_type(b.dtype(x))));
  return f.done(kept * (p < 1 ? 1 / (1 - p) : 0), float_type(b.dtype(x)));
}

Result<NodeId> philox(Builder& b, Shape shape, NodeId seed, NodeId offset) {
  return b.add({Op::Philox, {seed, offset}, DType::Fp32, std::move(shape), {}, "", 0, 0});
}

Result<NodeId> dropout_philox(Builder& b, NodeId x, double p, NodeId seed, NodeId offset) {
  KW_TRY(check_probability(p));
  const NodeId uniform = KW_TRY(philox(b, b[x].shape, seed, offset));
  Formula f(b);
  const NodeId keep = KW_TRY(f.done(f(uniform) >= Term(p)));
  return dropout_mask(b, x, keep, p);
}

}  // namespace kw::graph
