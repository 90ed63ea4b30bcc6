// Makes in-place updates visible through views, although graph nodes never change. A view keeps its
// movements from the root. Memory with strides, as in PyTorch, would need a node per element. A
// read repeats the movements if the root has changed. A write undoes them: it reshapes back,
// inverts permutations and puts a slice back into its source. Whether a reshape shares memory
// follows from strides, as in PyTorch; every root is assumed to be contiguous. Strides follow from
// which extents are 1: `x.t().contiguous()` is a view where x has one column and a copy elsewhere.
// A write that would show the difference adds guards for these extents. The cost: each write
// through a view adds nodes for the whole root.
#include "frontend/cell.h"

#include <optional>

#include "core/check.h"
#include "core/contains.h"
#include "frontend/objects.h"
#include "graph/derive.h"

namespace kw::frontend {
namespace {

using graph::Builder;
using graph::Dim;
using graph::Node;
using graph::NodeId;
using graph::Op;
using graph::Shape;

bool is_movement(Op op) {
  return op == Op::Reshape || op == Op::Permute || op == Op::Expand || op == Op::Slice;
}

using Extents = std::vector<int64_t>;

Extents contiguous_strides(const Extents& shape) {
  Extents strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

/// The strides of shape `to` over the same memory; not set if it needs a copy. Dims that are
/// contiguous with each other form a group. Extents of `to` must fill each group exactly.
std::optional<Extents> regrouped(const Extents& from, const Extents& strides, const Extents& to) {
  Extents result(to.size(), 1);
  if (contains(from, 0)) return contiguous_strides(to);
  size_t next = to.size();
  int64_t in_group = 1, taken = 1, inner = from.empty() ? 1 : strides.back();
  for (size_t i = from.size(); i-- > 0;) {
    in_group *= from[i];
    const bool ends = i == 0 || (from[i - 1] != 1 && strides[i - 1] != in_group * inner);
    if (!ends) continue;
    while (next > 0 && (taken < in_group || to[next - 1] == 1)) {
      --next;
      result[next] = taken * inner;
      taken *= to[next];
    }
    if (taken != in_group) return std::nullopt;
    if (i > 0) inner = strides[i - 1];
    in_group = taken = 1;
  }
  if (next != 0) return std::nullopt;
  return result;
}

std::optional<Extents> strides_after(const Node& step, const Extents& from,
                                     const Extents& strides) {
  const Extents to = values_of(step.shape);
  Extents result(to.size());
  switch (step.op) {
    case Op::Reshape:
      return regrouped(from, strides, to);
    case Op::Permute:
      for (size_t i = 0; i < to.size(); ++i)
        result[i] = strides[static_cast<size_t>(step.attrs.dims[i])];
      return result;
    case Op::Expand: {
      const size_t added = to.size() - from.size();
      for (size_t i = added; i < to.size(); ++i)
        result[i] = from[i - added] == to[i] ? strides[i - added] : 0;
      return result;
    }
    default:
      for (size_t i = 0; i < to.size(); ++i) result[i] = strides[i] * step.attrs.steps[i];
      return result;
  }
}

std::optional<Extents> strides_of(const Shape& root, const std::vector<Node>& steps) {
  Extents shape = values_of(root);
  std::optional<Extents> strides = contiguous_strides(shape);
  for (const Node& step : steps) {
    strides = strides_after(step, shape, *strides);
    if (!strides) return std::nullopt;
    shape = values_of(step.shape);
  }
  return strides;
}

/// Notes in the root what decided whether a result of these steps shares its memory.
void note_decision(const Shape& root, const std::vector<Node>& steps, Cell* cell) {
  const auto note = [&](const Shape& shape) {
    for (const Dim& extent : shape) {
      if (!extent.is_constant() && !contains(cell->decided_by, extent))
        cell->decided_by.push_back(extent);
    }
  };
  // A reshape of memory without gaps always shares it.
  if (std::ranges::all_of(steps, [](const Node& step) { return step.op == Op::Reshape; })) return;
  note(root);
  for (const Node& step : steps) note(step.shape);
}

/// A write shows which tensors share this memory, so the trace holds only where they are the same.
void guard_sharing(Builder& graph, Cell* root) {
  for (const Dim& extent : std::exchange(root->decided_by, {}))
    graph.guard(fmt::format("{} {} 1", extent.text(), extent.value() == 1 ? "==" : "!="));
}

bool gapless(const Extents& shape, const Extents& strides) {
  const Extents want = contiguous_strides(shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return true;
    if (shape[i] != 1 && strides[i] != want[i]) return false;
  }
  return true;
}

bool without_gaps(const Builder& graph, const Cell& view) {
  const auto strides = strides_of(graph[view.base->node].shape, view.steps);
  return strides && gapless(values_of(graph[view.node].shape), *strides);
}

/// One dim of a slice.
struct Cut {
  int dim = 0;
  Dim start, count;
  int64_t step = 1;
};

std::vector<Cut> cuts_of(const Node& slice, const Shape& from) {
  std::vector<Cut> cuts;
  for (size_t i = 0; i < from.size(); ++i) {
    const bool whole = slice.attrs.steps[i] == 1 && slice.shape[i] == from[i];
    if (!whole)
      cuts.push_back(
          {static_cast<int>(i), slice.attrs.starts[i], slice.shape[i], slice.attrs.steps[i]});
  }
  return cuts;
}

Result<NodeId> take(Builder& graph, NodeId from, const Cut& cut) {
  const Dim stop =
      cut.count.value() == 0 ? cut.start : cut.start + (cut.count - 1) * Dim(cut.step) + 1;
  return graph.slice(from, cut.dim, cut.start, stop, cut.step);
}

Result<NodeId> redo(Builder& graph, const Node& step, NodeId from) {
  if (graph::is_detached(step)) return graph::detach(graph, from);
  if (step.op == Op::Reshape) return graph.reshape(from, step.shape);
  if (step.op == Op::Permute) return graph.permute(from, step.attrs.dims);
  if (step.op == Op::Expand) return graph.expand(from, step.shape);
  for (const Cut& cut : cuts_of(step, graph[from].shape)) from = KW_TRY(take(graph, from, cut));
  return from;
}

/// `into` with `piece` at the place of the cut.
Result<NodeId> put(Builder& graph, NodeId into, const Cut& cut, NodeId piece) {
  Node node;
  node.attrs.dims = {cut.dim};
  if (cut.step != 1) {
    const NodeId position = graph.iota(graph[piece].shape, cut.dim, tensor::DType::Int64);
    const NodeId scaled = KW_TRY(
        graph.binary(Op::Mul, graph::Operand::tensor(position), graph::Operand::of(cut.step)));
    const NodeId start = graph.constant_dim(tensor::DType::Int64, cut.start);
    const NodeId index = KW_TRY(
        graph.binary(Op::Add, graph::Operand::tensor(scaled), graph::Operand::tensor(start)));
    node.op = Op::Scatter;
    node.inputs = {into, index, piece};
    return graph.add(std::move(node));
  }
  const Dim extent = graph[into].shape[static_cast<size_t>(cut.dim)];
  const Dim end = cut.start + cut.count;
  if (cut.start.value() > 0)
    node.inputs.push_back(KW_TRY(graph.slice(into, cut.dim, Dim(0), cut.start, 1)));
  node.inputs.push_back(piece);
  if (end.value() < extent.value())
    node.inputs.push_back(KW_TRY(graph.slice(into, cut.dim, end, extent, 1)));
  if (node.inputs.size() == 1) return piece;
  node.op = Op::Concat;
  return graph.add(std::move(node));
}

Result<NodeId> undo(Builder& graph, const Node& step, NodeId before, NodeId value) {
  const Shape shape = graph[before].shape;
  if (step.op == Op::Reshape) return graph.reshape(value, shape);
  if (step.op == Op::Permute) {
    std::vector<int> inverse(step.attrs.dims.size());
    for (size_t i = 0; i < inverse.size(); ++i)
      inverse[static_cast<size_t>(step.attrs.dims[i])] = static_cast<int>(i);
    return graph.permute(value, inverse);
  }
  if (step.op == Op::Expand) {
    if (values_of(step.shape) == values_of(shape)) return value;
    return input_error(
        "cannot write into an expanded tensor: several of its elements are one place in memory; "
        "call .clone() first");
  }
  const std::vector<Cut> cuts = cuts_of(step, shape);
  std::vector<NodeId> outer = {before};
  for (const Cut& cut : cuts) outer.push_back(KW_TRY(take(graph, outer.back(), cut)));
  for (size_t i = cuts.size(); i-- > 0;) value = KW_TRY(put(graph, outer[i], cuts[i], value));
  return value;
}

}  // namespace

Tensor new_tensor(NodeId node) {
  Tensor tensor(node);
  tensor.cell = std::make_shared<Cell>();
  tensor.cell->node = node;
  return tensor;
}

Tensor view_of(Builder& graph, const Tensor& base, NodeId node, Sharing sharing) {
  if (!base.cell) return new_tensor(node);
  const Cell& from = *base.cell;
  const std::shared_ptr<Cell> root = from.base ? from.base : base.cell;
  const Shape root_shape = graph[root->node].shape;
  const auto copied = [&](const std::vector<Node>& steps) {
    Tensor copy = new_tensor(node);
    note_decision(root_shape, steps, copy.cell.get());
    return copy;
  };
  if (node == from.node) {
    if (sharing != Sharing::Contiguous || !from.base) return base;
    note_decision(root_shape, from.steps, root.get());
    return without_gaps(graph, from) ? base : copied(from.steps);
  }
  std::vector<Node> steps;
  for (NodeId at = node; at != base.cell->node; at = graph[at].inputs[0]) {
    if (!is_movement(graph[at].op)) {
      Tensor copy = new_tensor(node);
      // A cast makes a new tensor; a diagonal or a window shares memory, as PyTorch says.
      copy.cell->read_only = sharing == Sharing::View && graph[at].op != Op::Cast;
      return copy;
    }
    steps.insert(steps.begin(), graph[at]);
  }
  steps.insert(steps.begin(), from.steps.begin(), from.steps.end());
  if (sharing != Sharing::View) note_decision(root_shape, steps, root.get());
  if (sharing != Sharing::View && !strides_of(root_shape, steps)) return copied(steps);
  Tensor view = new_tensor(node);
  view.cell->base = root;
  view.cell->base_version = root->version;
  view.cell->steps = std::move(steps);
  return view;
}

bool is_contiguous(Builder& graph, const Tensor& tensor) {
  if (!tensor.cell || !tensor.cell->base) return true;
  Cell decision;
  note_decision(graph[tensor.cell->base->node].shape, tensor.cell->steps, &decision);
  guard_sharing(graph, &decision);
  return without_gaps(graph, *tensor.cell);
}

Result<NodeId> read(Builder& graph, const Tensor& tensor) {
  Cell* cell = tensor.cell.get();
  if (!cell) return tensor.node;
  if (!cell->base || cell->base->version == cell->base_version) return cell->node;
  NodeId node = cell->base->node;
  for (const Node& step : cell->steps) node = KW_TRY(redo(graph, step, node));
  cell->node = node;
  cell->base_version = cell->base->version;
  return node;
}

Status write(Builder& graph, const Tensor& tensor, NodeId value) {
  Cell* cell = tensor.cell.get();
  KW_CHECK(cell, "only tensors of the evaluator are written");
  if (cell->read_only)
    return input_error(
        "writing through this view is not supported\nwrite into the tensor itself, or call "
        ".clone() "
        "first");
  guard_sharing(graph, cell->base ? cell->base.get() : cell);
  if (!cell->base) {
    cell->node = value;
    ++cell->version;
    return Done{};
  }
  std::vector<NodeId> before = {cell->base->node};
  for (size_t i = 0; i + 1 < cell->steps.size(); ++i)
    before.push_back(KW_TRY(redo(graph, cell->steps[i], before.back())));
  NodeId whole = value;
  for (size_t i = cell->steps.size(); i-- > 0;)
    whole = KW_TRY(undo(graph, cell->steps[i], before[i], whole));
  cell->base->node = whole;
  cell->node = value;
  cell->base_version = ++cell->base->version;
  return Done{};
}

Result<Value> plain(Builder& graph, const Value& value, int depth) {
  if (depth > kMaxNesting) return input_error("containers are nested too deeply");
  if (const auto* tensor = value.get<Tensor>()) return Value(Tensor(KW_TRY(read(graph, *tensor))));
  const std::vector<Value>* items = items_of(value);
  if (!items) return value;
  std::vector<Value> result;
  for (const Value& item : *items) result.push_back(KW_TRY(plain(graph, item, depth + 1)));
  const auto* tuple = value.get<std::shared_ptr<Tuple>>();
  return tuple ? make_named_tuple(std::move(result), (*tuple)->fields)
               : make_list(std::move(result));
}

}  // namespace kw::frontend
