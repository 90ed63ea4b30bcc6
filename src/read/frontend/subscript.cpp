// Reads an index in two steps. Ints, slices, None and Ellipsis are movements and give a view. Then
// index tensors select from that view: their dims are moved together and merged into one dim, and
// one linear index selects along it. So the graph needs one select operator, not one per number of
// index tensors. Assignment runs the same steps backwards, with a scatter. The cost is index
// arithmetic in the graph. A mask can only be assigned one value, because the number of selected
// elements is unknown.
#include "frontend/subscript.h"

#include <algorithm>
#include <numeric>

#include "frontend/cell.h"
#include "frontend/numbers.h"
#include "frontend/refusals.h"
#include "graph/compose_move.h"

namespace kw::frontend {
namespace {

using graph::Builder;
using graph::Dim;
using graph::Node;
using graph::NodeId;
using graph::Op;
using graph::Operand;
using graph::Shape;
using tensor::DType;

/// An index tensor, and the dim of the view that it indexes. A mask covers as many dims as its
/// rank.
struct Pick {
  int dim = 0;
  NodeId index = -1;
};

struct Parsed {
  NodeId view = -1;
  std::vector<Pick> picks;
  std::vector<Pick> masks;
};

bool is_mask(Builder& graph, NodeId node) { return graph[node].dtype == DType::Bool; }

Result<NodeId> list_index(Builder& graph, const std::vector<Value>& items) {
  std::vector<NodeId> parts;
  for (const Value& item : items) {
    const auto integer = item.get<bool>() ? std::nullopt : as_dim(item);
    if (!integer) return input_error("a list as an index must hold ints, not {}", type_name(item));
    const NodeId one = graph.constant_int(DType::Int64, concrete(graph, *integer));
    parts.push_back(KW_TRY(graph.reshape(one, {Dim(1)})));
  }
  if (parts.empty()) return input_error("an empty list as an index is not supported");
  if (parts.size() == 1) return parts[0];
  Node node;
  node.op = Op::Concat;
  node.inputs = parts;
  node.attrs.dims = {0};
  return graph.add(std::move(node));
}

int dims_taken(Builder& graph, const Value& item) {
  if (item.is_none() || item.get<Ellipsis>()) return 0;
  const auto* tensor = item.get<Tensor>();
  return tensor && is_mask(graph, tensor->node) ? graph.rank(tensor->node) : 1;
}

/// The index with its Ellipsis replaced by whole dims, and with whole dims added at the end.
Result<std::vector<Value>> spread(Builder& graph, const std::vector<Value>& items, int rank) {
  int taken = 0, ellipses = 0;
  for (const Value& item : items) {
    taken += dims_taken(graph, item);
    ellipses += item.get<Ellipsis>() ? 1 : 0;
  }
  if (ellipses > 1) return input_error("an index can only have a single ellipsis ('...')");
  if (taken > rank) return input_error("too many indices for tensor of dimension {}", rank);
  std::vector<Value> result;
  const Value whole(std::make_shared<SliceValue>());
  const auto add_rest = [&] {
    result.insert(result.end(), static_cast<size_t>(rank - taken), whole);
  };
  for (const Value& item : items) {
    if (item.get<Ellipsis>())
      add_rest();
    else
      result.push_back(item);
  }
  if (!ellipses) add_rest();
  return result;
}

Result<Dim> slice_bound(Builder& graph, const Value& bound, const Dim& extent,
                        const Dim& fallback) {
  if (bound.is_none()) return fallback;
  const auto given = as_dim(bound);
  if (!given && bound.get<Tensor>()) return input_error(value_decides("a tensor bounds a slice"));
  if (!given)
    return input_error("slice indices must be integers or None, not {}", type_name(bound));
  if (given->value() < 0) return at_most(graph, Dim(0) - *given, extent) ? extent + *given : Dim(0);
  return at_most(graph, *given, extent) ? *given : extent;
}

// A step that follows from extents: the first column of rows of that length. Padding completes the
// last row; without it the result is a view that can be written.
Result<NodeId> every_nth(Builder& graph, NodeId node, int dim, const Dim& step) {
  Shape shape = graph[node].shape;
  const size_t at = static_cast<size_t>(dim);
  const Dim extent = shape[at];
  Dim rows = floor_div(extent, step);
  if (!(rows * step).same_text(extent)) {
    rows = floor_div(extent + step - 1, step);
    std::vector<Dim> pads(2 * (shape.size() - at), Dim(0));
    pads.back() = rows * step - extent;
    node = KW_TRY(graph::pad(graph, node, pads, graph::PadMode::Constant, 0));
  }
  shape[at] = step;
  shape.insert(shape.begin() + dim, rows);
  node = KW_TRY(graph.reshape(node, shape));
  node = KW_TRY(graph.slice(node, dim + 1, Dim(0), Dim(1)));
  shape.erase(shape.begin() + dim + 1);
  return graph.reshape(node, shape);
}

Result<NodeId> cut(Builder& graph, NodeId node, int dim, const SliceValue& slice) {
  if (slice.start.is_none() && slice.stop.is_none() && slice.step.is_none()) return node;
  const Dim extent = graph[node].shape[static_cast<size_t>(dim)];
  Dim step = 1;
  if (!slice.step.is_none()) {
    const auto given = as_dim(slice.step);
    if (!given) return input_error("a slice step must be int, not {}", type_name(slice.step));
    step = *given;
    if (step.value() <= 0) return input_error("step must be greater than zero");
  }
  const Dim start = KW_TRY(slice_bound(graph, slice.start, extent, Dim(0)));
  Dim stop = KW_TRY(slice_bound(graph, slice.stop, extent, extent));
  // Both lie within the extent, so its own ends need no guard.
  const bool from_an_end = start.same_text(Dim(0)) || stop.same_text(extent);
  if (!from_an_end && !at_most(graph, start, stop)) stop = start;
  if (step.is_constant()) return graph.slice(node, dim, start, stop, step.value());
  return every_nth(graph, KW_TRY(graph.slice(node, dim, start, stop)), dim, step);
}

Result<NodeId> one_index(Builder& graph, NodeId node, int dim, const Dim& index) {
  const Dim extent = graph[node].shape[static_cast<size_t>(dim)];
  const bool negative = index.value() < 0;
  const Dim at = negative ? extent + index : index;
  const bool inside = at.value() >= 0 && at.value() < extent.value();
  if (!inside)
    return input_error("index {} is out of bounds for dimension {} with size {}", index.value(),
                       dim, extent.value());
  at_most(graph, negative ? Dim(0) - index : index + 1, extent);
  return graph.slice(node, dim, at, at + 1, 1);
}

Result<Value> resolve_item(Builder& graph, const Value& item) {
  if (const auto* list = item.get<std::shared_ptr<List>>())
    return Value(Tensor(KW_TRY(list_index(graph, (*list)->items))));
  if (const auto* tensor = item.get<Tensor>()) {
    const NodeId node = KW_TRY(read(graph, *tensor));
    if (tensor::is_float(graph[node].dtype))
      return input_error("tensors used as indices must be long, int, byte or bool tensors");
    return Value(Tensor(node));
  }
  if (const auto* number = item.get<Float>(); number && number->is_int())
    return Value(*as_dim(item));
  if (item.get<bool>()) return input_error("True and False as an index are not supported");
  const bool known = item.is_none() || item.get<Ellipsis>() || item.get<Dim>() ||
                     item.get<std::shared_ptr<SliceValue>>();
  if (!known) return input_error("a tensor cannot be indexed with {}", type_name(item));
  return item;
}

/// Ints of a list index must be inside the extent; the guard keeps this true at other dims.
Status check_listed(Builder& graph, NodeId index, int dim, const Dim& extent) {
  const Node node = graph[index];
  if (node.op == Op::Concat || node.op == Op::Reshape) {
    for (const NodeId part : node.inputs) KW_TRY(check_listed(graph, part, dim, extent));
  }
  if (node.op != Op::Constant || !node.attrs.is_literal()) return Done{};
  const int64_t at = node.attrs.integer;
  if (at < -extent.value() || at >= extent.value())
    return input_error("index {} is out of bounds for dimension {} with size {}", at, dim,
                       extent.value());
  at_most(graph, Dim(at < 0 ? -at : at + 1), extent);
  return Done{};
}

Result<Parsed> parse(Builder& graph, NodeId base, const Value& index) {
  std::vector<Value> items;
  const auto* tuple = index.get<std::shared_ptr<Tuple>>();
  for (const Value& item : tuple ? (*tuple)->items : std::vector<Value>{index})
    items.push_back(KW_TRY(resolve_item(graph, item)));
  items = KW_TRY(spread(graph, items, graph.rank(base)));
  Parsed parsed{base, {}, {}};
  Shape shape;
  bool reshaped = false;
  int dim = 0;
  for (const Value& item : items) {
    if (const auto* tensor = item.get<Tensor>()) {
      const bool mask = is_mask(graph, tensor->node);
      (mask ? parsed.masks : parsed.picks)
          .push_back({static_cast<int>(shape.size()), tensor->node});
      if (!mask)
        KW_TRY(check_listed(graph, tensor->node, dim, graph[base].shape[static_cast<size_t>(dim)]));
      for (int i = dims_taken(graph, item); i > 0; --i)
        shape.push_back(graph[base].shape[static_cast<size_t>(dim++)]);
    } else if (const auto* integer = item.get<Dim>()) {
      parsed.view = KW_TRY(one_index(graph, parsed.view, dim++, *integer));
      reshaped = true;
    } else if (const auto* slice = item.get<std::shared_ptr<SliceValue>>()) {
      parsed.view = KW_TRY(cut(graph, parsed.view, dim, **slice));
      shape.push_back(graph[parsed.view].shape[static_cast<size_t>(dim++)]);
    } else {
      shape.push_back(Dim(1));
      reshaped = true;
    }
  }
  if (reshaped) parsed.view = KW_TRY(graph.reshape(parsed.view, shape));
  return parsed;
}

/// The index as int64, with negative indices counted from the end.
Result<NodeId> wrapped(Builder& graph, NodeId index, const Dim& extent) {
  const NodeId wide = graph.cast(index, DType::Int64);
  const NodeId negative =
      KW_TRY(graph.binary(Op::Lt, Operand::tensor(wide), Operand::of(int64_t{0})));
  const NodeId size = graph.constant_dim(DType::Int64, extent);
  const NodeId moved = KW_TRY(graph.binary(Op::Add, Operand::tensor(wide), Operand::tensor(size)));
  return graph.where(negative, Operand::tensor(moved), Operand::tensor(wide));
}

/// The indexed dims merged into one dim, and the linear index into it.
struct Merged {
  NodeId node = -1;
  std::vector<int> order;  // the permutation of the dims
  Shape permuted;          // extents after the permutation
  int dim = 0;             // the merged dim
  NodeId index = -1;       // rank 1
  Shape index_shape;
};

Result<Shape> common_shape(Builder& graph, const std::vector<Pick>& picks) {
  Shape shape;
  for (const Pick& pick : picks) {
    const Shape& other = graph[pick.index].shape;
    if (other.size() > shape.size())
      shape.insert(shape.begin(), other.size() - shape.size(), Dim(1));
    for (size_t i = 0; i < other.size(); ++i) {
      Dim& extent = shape[shape.size() - other.size() + i];
      if (extent.value() == 1)
        extent = other[i];
      else if (other[i].value() != 1 && other[i].value() != extent.value())
        return input_error(
            "shape mismatch: indexing tensors could not be broadcast together ({} and {})",
            extent.value(), other[i].value());
    }
  }
  return shape;
}

Result<Merged> merge(Builder& graph, NodeId view, const std::vector<Pick>& picks) {
  Merged merged;
  const int count = static_cast<int>(picks.size());
  const bool adjacent = picks.back().dim - picks.front().dim + 1 == count;
  merged.dim = adjacent ? picks.front().dim : 0;
  for (int i = 0; i < graph.rank(view); ++i) {
    const bool picked =
        std::any_of(picks.begin(), picks.end(), [&](const Pick& p) { return p.dim == i; });
    if (adjacent || !picked) merged.order.push_back(i);
  }
  if (!adjacent) {
    for (int i = count; i-- > 0;)
      merged.order.insert(merged.order.begin(), picks[static_cast<size_t>(i)].dim);
  }
  const NodeId permuted = adjacent ? view : KW_TRY(graph.permute(view, merged.order));
  merged.permuted = graph[permuted].shape;
  Shape shape = merged.permuted;
  const auto first = shape.begin() + merged.dim;
  const Dim total = count_of(Shape(first, first + count));
  shape.erase(first, first + count);
  shape.insert(shape.begin() + merged.dim, total);
  merged.node = count == 1 ? permuted : KW_TRY(graph.reshape(permuted, shape));
  merged.index_shape = KW_TRY(common_shape(graph, picks));
  for (int i = 0; i < count; ++i) {
    const Dim extent = merged.permuted[static_cast<size_t>(merged.dim + i)];
    const NodeId here = KW_TRY(wrapped(graph, picks[static_cast<size_t>(i)].index, extent));
    if (i == 0) {
      merged.index = here;
      continue;
    }
    const NodeId size = graph.constant_dim(DType::Int64, extent);
    const NodeId scaled =
        KW_TRY(graph.binary(Op::Mul, Operand::tensor(merged.index), Operand::tensor(size)));
    merged.index = KW_TRY(graph.binary(Op::Add, Operand::tensor(scaled), Operand::tensor(here)));
  }
  merged.index = KW_TRY(broadcast_to(graph, merged.index, merged.index_shape));
  merged.index = KW_TRY(graph.reshape(merged.index, {count_of(merged.index_shape)}));
  return merged;
}

Shape picked_shape(Builder& graph, const Merged& merged) {
  Shape shape = graph[merged.node].shape;
  shape.erase(shape.begin() + merged.dim);
  shape.insert(shape.begin() + merged.dim, merged.index_shape.begin(), merged.index_shape.end());
  return shape;
}

Result<NodeId> value_node(Builder& graph, const Value& value, DType dtype) {
  if (const auto* tensor = value.get<Tensor>()) {
    const NodeId node = KW_TRY(read(graph, *tensor));
    return graph.cast(node, dtype);
  }
  const auto number = as_symbolic(value);
  if (!number) return input_error("cannot assign a {} to elements of a tensor", type_name(value));
  const auto* integer = value.get<Dim>();
  if (integer && !tensor::is_float(dtype)) return graph.constant_int(dtype, integer->value());
  return graph.constant(dtype, *number);
}

Result<NodeId> fill_mask(Builder& graph, const Parsed& parsed, NodeId value) {
  if (count_of(graph[value].shape).value() != 1)
    return input_error(
        "x[mask] = v needs a single value: how many elements a mask selects is known only at run "
        "time\ntorch.where(mask, v, x) takes a tensor");
  const Pick& mask = parsed.masks[0];
  Shape shape = graph[mask.index].shape;
  const Shape target = graph[parsed.view].shape;
  const size_t end = static_cast<size_t>(mask.dim) + shape.size();
  shape.insert(shape.end(), target.size() - end, Dim(1));
  const NodeId aligned = KW_TRY(graph.reshape(mask.index, shape));
  const NodeId condition = KW_TRY(broadcast_to(graph, aligned, target));
  const NodeId scalar = KW_TRY(graph.reshape(value, {}));
  const NodeId filled = KW_TRY(broadcast_to(graph, scalar, target));
  return graph.where(condition, Operand::tensor(filled), Operand::tensor(parsed.view));
}

Result<NodeId> put_picks(Builder& graph, const Parsed& parsed, NodeId value) {
  const Merged merged = KW_TRY(merge(graph, parsed.view, parsed.picks));
  NodeId source = KW_TRY(broadcast_to(graph, value, picked_shape(graph, merged)));
  Shape flat = graph[merged.node].shape;
  flat[static_cast<size_t>(merged.dim)] = count_of(merged.index_shape);
  source = KW_TRY(graph.reshape(source, flat));
  Shape ones(flat.size(), Dim(1));
  ones[static_cast<size_t>(merged.dim)] = count_of(merged.index_shape);
  const NodeId column = KW_TRY(graph.reshape(merged.index, ones));
  Node node;
  node.op = Op::Scatter;
  node.inputs = {merged.node, KW_TRY(graph.expand(column, flat)), source};
  node.attrs.dims = {merged.dim};
  NodeId result = KW_TRY(graph.add(std::move(node)));
  result = KW_TRY(graph.reshape(result, merged.permuted));
  std::vector<int> inverse(merged.order.size());
  for (size_t i = 0; i < inverse.size(); ++i)
    inverse[static_cast<size_t>(merged.order[i])] = static_cast<int>(i);
  return graph.permute(result, inverse);
}

}  // namespace

Result<NodeId> broadcast_to(Builder& graph, NodeId node, Shape shape) {
  Shape own = graph[node].shape;
  // A value may have more dims than its target if the extra ones are 1.
  while (own.size() > shape.size() && own.front().value() == 1) {
    graph.guard_equal(own.front(), Dim(1));
    own.erase(own.begin());
  }
  if (own.size() < shape.size()) own.insert(own.begin(), shape.size() - own.size(), Dim(1));
  if (own.size() != graph[node].shape.size()) node = KW_TRY(graph.reshape(node, own));
  if (values_of(own) != values_of(shape)) return graph.expand(node, shape);
  for (size_t i = 0; i < own.size(); ++i) graph.guard_equal(own[i], shape[i]);
  return node;
}

Result<Value> item_of(Builder& graph, const Tensor& tensor, const Value& index) {
  const NodeId base = KW_TRY(read(graph, tensor));
  const Parsed parsed = KW_TRY(parse(graph, base, index));
  if (!parsed.masks.empty())
    return input_error(
        "x[mask]: the shape of the result depends on values\ntorch.where(mask, x, 0) keeps the "
        "shape, {}",
        kWayOut);
  if (parsed.picks.empty()) return Value(view_of(graph, tensor, parsed.view, Sharing::View));
  const Merged merged = KW_TRY(merge(graph, parsed.view, parsed.picks));
  Node node;
  node.op = Op::IndexSelect;
  node.inputs = {merged.node, merged.index};
  node.attrs.dims = {merged.dim};
  const NodeId picked = KW_TRY(graph.add(std::move(node)));
  return Value(new_tensor(KW_TRY(graph.reshape(picked, picked_shape(graph, merged)))));
}

Status assign_item(Builder& graph, const Tensor& tensor, const Value& index, const Value& value) {
  const NodeId base = KW_TRY(read(graph, tensor));
  const Parsed parsed = KW_TRY(parse(graph, base, index));
  NodeId node = KW_TRY(value_node(graph, value, graph[base].dtype));
  const bool mixed = parsed.masks.size() > 1 || (!parsed.masks.empty() && !parsed.picks.empty());
  if (mixed) return input_error("several masks in one index are not supported");
  if (!parsed.masks.empty())
    node = KW_TRY(fill_mask(graph, parsed, node));
  else if (!parsed.picks.empty())
    node = KW_TRY(put_picks(graph, parsed, node));
  else
    node = KW_TRY(broadcast_to(graph, node, graph[parsed.view].shape));
  return write(graph, view_of(graph, tensor, parsed.view, Sharing::View), node);
}

}  // namespace kw::frontend
