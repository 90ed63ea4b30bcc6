#include "plan/rewrite.h"

namespace kw::generate {

std::vector<int> uses_of(const Graph& graph) {
  std::vector<int> uses(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    for (const NodeId input : node.inputs) ++uses[static_cast<size_t>(input)];
  }
  for (const graph::NamedNode& output : graph.outputs) ++uses[static_cast<size_t>(output.node)];
  return uses;
}

NodeId Rewriter::add(Node node) {
  to_.nodes.push_back(std::move(node));
  return static_cast<NodeId>(to_.nodes.size() - 1);
}

Graph Rewriter::run(const std::function<std::optional<NodeId>(Rewriter&, const Node&)>& change) {
  std::vector<NodeId> moved;
  for (const Node& old : from_.nodes) {
    Node node = old;
    for (NodeId& input : node.inputs) input = moved[static_cast<size_t>(input)];
    const std::optional<NodeId> other = change(*this, node);
    moved.push_back(other ? *other : add(std::move(node)));
  }
  to_.inputs = from_.inputs;
  to_.outputs = from_.outputs;
  to_.guards = from_.guards;
  for (auto* named : {&to_.inputs, &to_.outputs}) {
    for (graph::NamedNode& one : *named) one.node = moved[static_cast<size_t>(one.node)];
  }
  return std::move(to_);
}

const Node* Rewriter::constant_under(NodeId id) const {
  const Node* node = &to_[id];
  while (node->op == Op::Expand || node->op == Op::Reshape) node = &to_[node->inputs[0]];
  return node->op == Op::Constant ? node : nullptr;
}

NodeId Rewriter::filled(const Node& like, double number) {
  Node constant;
  constant.op = Op::Constant;
  constant.dtype = like.dtype;
  constant.attrs.number = number;
  constant.origin = like.origin;
  constant.line = like.line;
  constant.column = like.column;
  const NodeId id = add(constant);
  if (like.shape.empty()) return id;
  Node expand = constant;
  expand.op = Op::Expand;
  expand.inputs = {id};
  expand.shape = like.shape;
  expand.attrs = {};
  return add(std::move(expand));
}

}  // namespace kw::generate
