// Stops gradients: a reshape to its own shape that carries a mark. Only derivatives need marks; all
// other users get graphs without them.
#include "graph/builder.h"
#include "graph/derive.h"

namespace kw::graph {
namespace {

constexpr int64_t kDetached = 1;

}  // namespace

bool is_detached(const Node& node) {
  return node.op == Op::Reshape && node.attrs.integer == kDetached;
}

Result<NodeId> detach(Builder& b, NodeId x) {
  if (!tensor::is_float(b.dtype(x))) return x;
  Node node;
  node.op = Op::Reshape;
  node.inputs = {x};
  node.dtype = b.dtype(x);
  node.shape = b[x].shape;
  node.attrs.integer = kDetached;
  return b.add(std::move(node));
}

Graph without_marks(const Graph& graph) {
  bool any = false;
  for (const Node& node : graph.nodes) any = any || is_detached(node);
  if (!any) return graph;
  Graph result;
  result.guards = graph.guards;
  std::vector<NodeId> moved(graph.nodes.size(), -1);
  for (size_t at = 0; at < graph.nodes.size(); ++at) {
    Node node = graph.nodes[at];
    for (NodeId& input : node.inputs) input = moved[static_cast<size_t>(input)];
    if (is_detached(node)) {
      moved[at] = node.inputs[0];
      continue;
    }
    moved[at] = static_cast<NodeId>(result.nodes.size());
    result.nodes.push_back(std::move(node));
  }
  for (const NamedNode& input : graph.inputs)
    result.inputs.push_back({input.name, moved[static_cast<size_t>(input.node)]});
  for (const NamedNode& output : graph.outputs)
    result.outputs.push_back({output.name, moved[static_cast<size_t>(output.node)]});
  return result;
}

}  // namespace kw::graph
