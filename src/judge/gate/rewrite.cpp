#include "gate/rewrite.h"

#include <string>

namespace kw::gate {

using graph::Node;
using graph::NodeId;
using graph::Op;

graph::Graph Rewriter::run(const Replace& replace) {
  for (NodeId id = 0; id < static_cast<NodeId>(from_.nodes.size()); ++id) {
    const std::optional<NodeId> other = replace(*this, id);
    map_.push_back(other ? *other : copy(id));
  }
  for (const graph::NamedNode& input : from_.inputs)
    to_.inputs.push_back({input.name, mapped(input.node)});
  for (const graph::NamedNode& output : from_.outputs)
    to_.outputs.push_back({output.name, mapped(output.node)});
  for (const NodeId id : parameters_) to_.inputs.push_back({"at" + std::to_string(id), id});
  return std::move(to_);
}

NodeId Rewriter::copy(NodeId old) {
  Node node = from_[old];
  for (NodeId& input : node.inputs) input = mapped(input);
  return add(std::move(node));
}

NodeId Rewriter::add(Node node) {
  to_.nodes.push_back(std::move(node));
  return static_cast<NodeId>(to_.nodes.size()) - 1;
}

NodeId Rewriter::constant(NodeId like, double value) {
  Node node;
  node.op = Op::Constant;
  node.dtype = to_[like].dtype;
  node.attrs.number = value;
  const NodeId scalar = add(std::move(node));
  Node expand;
  expand.op = Op::Expand;
  expand.inputs = {scalar};
  expand.dtype = to_[like].dtype;
  expand.shape = to_[like].shape;
  return add(std::move(expand));
}

NodeId Rewriter::binary(Op op, NodeId a, NodeId b) {
  Node node;
  node.op = op;
  node.inputs = {a, b};
  node.dtype = to_[a].dtype;
  node.shape = to_[a].shape;
  return add(std::move(node));
}

NodeId Rewriter::cast(NodeId x, tensor::DType to) {
  Node node;
  node.op = Op::Cast;
  node.inputs = {x};
  node.dtype = to;
  node.shape = to_[x].shape;
  return add(std::move(node));
}

NodeId Rewriter::every_other(NodeId x, int dim) {
  Node node;
  node.op = Op::Slice;
  node.inputs = {x};
  node.dtype = to_[x].dtype;
  node.shape = to_[x].shape;
  node.attrs.starts.assign(node.shape.size(), graph::Dim(0));
  node.attrs.steps.assign(node.shape.size(), 1);
  graph::Dim& extent = node.shape[static_cast<size_t>(dim)];
  extent = graph::Dim((extent.value() + 1) / 2);
  node.attrs.steps[static_cast<size_t>(dim)] = 2;
  return add(std::move(node));
}

NodeId Rewriter::parameter(const Node& like) {
  Node node;
  node.op = Op::Input;
  node.dtype = like.dtype;
  node.shape = like.shape;
  node.attrs.integer = static_cast<int64_t>(from_.inputs.size() + parameters_.size());
  const NodeId id = add(std::move(node));
  parameters_.push_back(id);
  return id;
}

}  // namespace kw::gate
