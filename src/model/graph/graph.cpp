#include "graph/graph.h"

#include <fmt/core.h>

#include <set>
#include <span>

#include "graph/infer.h"

namespace kw::graph {

namespace {

Error broken(std::string why) { return Error{Blame::Bug, std::move(why)}; }

Status verify_node(const Graph& graph, size_t at) {
  const Node& node = graph.nodes[at];
  const auto want = infer(std::span(graph.nodes).first(at), node);
  if (!want) return broken(fmt::format("%{}: {}", at, want.error().message));
  if (want->dtype != node.dtype || want->shape != node.shape) {
    return broken(fmt::format("%{}: {}: is {}, must be {}", at, op_info(node.op).name,
                              signature_text(node.dtype, node.shape),
                              signature_text(want->dtype, want->shape)));
  }
  return Done{};
}

Status verify_names(const Graph& graph, const std::vector<NamedNode>& named, const char* what) {
  std::set<std::string> seen;
  for (const NamedNode& one : named) {
    if (one.node < 0 || static_cast<size_t>(one.node) >= graph.nodes.size()) {
      return broken(fmt::format("{} '{}' is %{}, which does not exist", what, one.name, one.node));
    }
    if (one.name.empty()) return broken(fmt::format("an {} has no name", what));
    if (!seen.insert(one.name).second) {
      return broken(fmt::format("two {}s are called '{}'", what, one.name));
    }
  }
  return Done{};
}

Status verify_inputs(const Graph& graph) {
  KW_TRY(verify_names(graph, graph.inputs, "input"));
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const Node& node = graph[graph.inputs[i].node];
    if (node.op != Op::Input || node.attrs.integer != static_cast<int64_t>(i)) {
      return broken(fmt::format("input '{}' is not input node {}", graph.inputs[i].name, i));
    }
  }
  for (size_t at = 0; at < graph.nodes.size(); ++at) {
    const Node& node = graph.nodes[at];
    if (node.op != Op::Input) continue;
    const auto which = static_cast<size_t>(node.attrs.integer);
    if (which >= graph.inputs.size() || graph.inputs[which].node != static_cast<NodeId>(at)) {
      return broken(fmt::format("%{}: input: is not among the graph's inputs", at));
    }
  }
  return Done{};
}

}  // namespace

Status verify(const Graph& graph) {
  for (size_t at = 0; at < graph.nodes.size(); ++at) KW_TRY(verify_node(graph, at));
  KW_TRY(verify_inputs(graph));
  KW_TRY(verify_names(graph, graph.outputs, "output"));
  if (graph.outputs.empty()) return broken("the graph has no outputs");
  return Done{};
}

}  // namespace kw::graph
