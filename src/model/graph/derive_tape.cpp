#include "graph/derive_tape.h"

#include "core/check.h"

namespace kw::graph {

Tape::Tape(const Graph& graph, std::vector<bool> active)
    : forward(graph), active_(std::move(active)) {
  exact_.resize(graph.nodes.size());
  users_.resize(graph.nodes.size());
  gradients_.assign(graph.nodes.size(), -1);
  for (size_t at = 0; at < graph.nodes.size(); ++at) {
    const Node& node = graph.nodes[at];
    const bool widens = node.op == Op::Cast && tensor::dtype_size(node.dtype) >=
                                                   tensor::dtype_size(graph[node.inputs[0]].dtype);
    exact_[at] = op_info(node.op).exact || widens;
    for (const NodeId input : node.inputs) {
      users_[static_cast<size_t>(input)].push_back(static_cast<NodeId>(at));
      if (!exact_[static_cast<size_t>(input)]) exact_[at] = false;
    }
  }
}

Status Tape::give(NodeId to, Result<NodeId> gradient) {
  if (!gradient) return std::move(gradient).error();
  if (!needs_gradient(to)) return Done{};
  KW_CHECK(b.dtype(*gradient) == forward[to].dtype && b[*gradient].shape == forward[to].shape,
           "a gradient has the dtype and shape of its tensor");
  NodeId& sum = gradients_[static_cast<size_t>(to)];
  if (sum < 0) {
    sum = *gradient;
    return Done{};
  }
  if (is_storage_only(forward[to].dtype))
    return input_error("gradients of {} cannot be added: it is stored, not computed with",
                       tensor::dtype_name(forward[to].dtype));
  sum = KW_TRY(b.binary(Op::Add, Operand::tensor(sum), Operand::tensor(*gradient)));
  return Done{};
}

Status Tape::give(Formula& f, NodeId to, const Term& gradient) {
  if (!needs_gradient(to)) return Done{};
  return give(to, f.done(gradient, forward[to].dtype));
}

std::optional<NodeId> Tape::gradient(NodeId id) const {
  const NodeId g = gradients_[static_cast<size_t>(id)];
  if (g < 0) return std::nullopt;
  return g;
}

NodeId Tape::seen(NodeId id) const {
  const std::vector<NodeId>& all = users(id);
  if (all.size() != 1) return id;
  const Node& user = forward[all[0]];
  if (user.op == Op::Where && user.inputs[0] != id) {
    const NodeId other = user.inputs[1] == id ? user.inputs[2] : user.inputs[1];
    return constant_of(forward, other) == 0.0 ? seen(all[0]) : id;
  }
  if (user.op != Op::Cast) return id;
  const DType to = forward[all[0]].dtype;
  return tensor::is_float(to) && tensor::dtype_size(to) < tensor::dtype_size(forward[id].dtype)
             ? all[0]
             : id;
}

std::string_view called(const Node& node) {
  std::string_view name = node.origin;
  if (name.starts_with("aten.")) {
    name.remove_prefix(5);
    name = name.substr(0, name.find('.'));
  }
  if (name.find_first_of(" ()[]{}+-*/@%&|^~<>=,.") != std::string_view::npos) return "";
  while (name.ends_with('_')) name.remove_suffix(1);
  return name;
}

std::optional<double> constant_of(const Graph& graph, NodeId id) {
  while (graph[id].op == Op::Expand || graph[id].op == Op::Reshape) id = graph[id].inputs[0];
  const Node& node = graph[id];
  if (node.op != Op::Constant || !node.attrs.number_text.empty()) return std::nullopt;
  return tensor::is_float(node.dtype) ? node.attrs.number : static_cast<double>(node.attrs.integer);
}

Result<NodeId> zeros_like(Builder& b, NodeId id) {
  const Shape shape = b[id].shape;
  return b.expand(b.constant(b.dtype(id), 0), shape);
}

Result<NodeId> one_hot_along(Builder& b, NodeId x, int dim, NodeId index) {
  const Shape shape = b[x].shape;
  const NodeId places = b.iota(shape, dim, DType::Int64);
  const NodeId all = KW_TRY(b.expand(index, shape));
  return b.binary(Op::Eq, Operand::tensor(places), Operand::tensor(all));
}

}  // namespace kw::graph
