#include "frontend/arrange.h"

#include "core/check.h"

namespace kw::frontend {

using graph::Graph;
using graph::Node;
using graph::NodeId;

std::vector<bool> needed_by_outputs(const Graph& graph) {
  std::vector<bool> needed(graph.nodes.size(), false);
  for (const graph::NamedNode& output : graph.outputs)
    needed[static_cast<size_t>(output.node)] = true;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const NodeId input : graph.nodes[i].inputs) needed[static_cast<size_t>(input)] = true;
  }
  return needed;
}

Graph arrange(const Graph& graph, const std::vector<std::pair<NodeId, std::string>>& inputs) {
  const std::vector<bool> needed = needed_by_outputs(graph);
  std::vector<NodeId> moved(graph.nodes.size(), -1);
  Graph result;
  result.guards = graph.guards;
  for (const auto& [id, name] : inputs) {
    moved[static_cast<size_t>(id)] = static_cast<NodeId>(result.nodes.size());
    Node node = graph[id];
    node.attrs.integer = static_cast<int64_t>(result.inputs.size());
    result.inputs.push_back({name, static_cast<NodeId>(result.nodes.size())});
    result.nodes.push_back(std::move(node));
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!needed[i] || moved[i] >= 0) continue;
    Node node = graph.nodes[i];
    KW_CHECK(node.op != graph::Op::Input, "every input that is needed has a name");
    for (NodeId& input : node.inputs) input = moved[static_cast<size_t>(input)];
    moved[i] = static_cast<NodeId>(result.nodes.size());
    result.nodes.push_back(std::move(node));
  }
  for (const graph::NamedNode& output : graph.outputs)
    result.outputs.push_back({output.name, moved[static_cast<size_t>(output.node)]});
  return result;
}

}  // namespace kw::frontend
