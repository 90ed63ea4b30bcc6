// Traces contain dead code, repeated nodes and operations that change nothing. Code generation and
// cost must not see them, and equal traces should print alike. merged() visits the nodes once: it
// drops identities and merges nodes with equal keys. without_dead() then keeps what the outputs
// need. Inputs are never removed, because callers pass them by position. The order stays, so the
// result is easy to compare with the source. Rewrites of arithmetic are not done here, since they
// would change rounding. The cost: one string key per node.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "graph/derive.h"
#include "graph/graph.h"
#include "graph/promote.h"

namespace kw::graph {

namespace {

std::string bits_text(double number) {
  uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return fmt::format("{:x}", bits);
}

// A key of everything that decides what a node computes. Origin and place are not part of it.
std::string key_of(const Node& node) {
  const Attrs& a = node.attrs;
  std::string key = fmt::format("{} {} {} {} {} {} {} {}", static_cast<int>(node.op),
                                static_cast<int>(node.dtype), bits_text(a.number), a.integer,
                                a.reverse, a.exclusive, a.descending, static_cast<int>(a.scatter));
  for (NodeId id : node.inputs) key += fmt::format(" %{}", id);
  for (int dim : a.dims) key += fmt::format(" d{}", dim);
  for (int64_t step : a.steps) key += fmt::format(" s{}", step);
  for (const Dim& start : a.starts) key += fmt::format(" @{}={}", start.text(), start.value());
  if (!a.number_text.empty()) key += " =" + a.number_text;
  for (const Dim& dim : node.shape) key += fmt::format(" #{}={}", dim.text(), dim.value());
  return key;
}

bool same_shape(const Node& a, const Node& b) {
  return std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end(),
                    [](const Dim& x, const Dim& y) { return x.same_text(y); });
}

// Whether every value of `from` can be represented in `to`.
bool holds_all(DType from, DType to) {
  if (from == DType::Bool || from == to) return true;
  if (!tensor::is_float(to)) return false;
  if (to == DType::Fp64) return tensor::dtype_size(from) <= 4;
  if (to == DType::Fp32) {
    return tensor::dtype_size(from) <= 2;
  }
  return false;
}

bool is_identity(const Node& node, const Node& input) {
  const Attrs& a = node.attrs;
  switch (node.op) {
    case Op::Cast:
      return node.dtype == input.dtype;
    case Op::Reshape:
    case Op::Expand:
    case Op::Pad:
      return same_shape(node, input);
    case Op::Permute:
      return std::ranges::is_sorted(a.dims);
    case Op::Slice:
      return same_shape(node, input) &&
             std::ranges::all_of(a.steps, [](int64_t step) { return step == 1; });
    case Op::Flip:
      return a.dims.empty();
    case Op::Concat:
      return node.inputs.size() == 1;
    default:
      return false;
  }
}

// The node that can replace `node`, or -1. Looks through one producer.
NodeId replacement(const std::vector<Node>& nodes, Node& node) {
  if (node.inputs.empty() || is_detached(node)) return -1;
  const Node& input = nodes[static_cast<size_t>(node.inputs[0])];
  if (is_identity(node, input)) return node.inputs[0];
  if (node.op == Op::Where && node.inputs[1] == node.inputs[2]) return node.inputs[1];
  if (node.op != input.op || input.inputs.empty() || is_detached(input)) return -1;
  const NodeId before = input.inputs[0];
  const Node& origin = nodes[static_cast<size_t>(before)];
  if (node.op == Op::Cast && node.dtype == origin.dtype && holds_all(origin.dtype, input.dtype)) {
    return before;
  }
  if (node.op == Op::Reshape) {
    if (same_shape(node, origin)) return before;
    node.inputs[0] = before;
  }
  return -1;
}

std::vector<bool> needed_by_outputs(const Graph& graph) {
  std::vector<bool> needed(graph.nodes.size(), false);
  for (const NamedNode& output : graph.outputs) needed[static_cast<size_t>(output.node)] = true;
  for (const NamedNode& input : graph.inputs) needed[static_cast<size_t>(input.node)] = true;
  for (size_t at = graph.nodes.size(); at-- > 0;) {
    if (!needed[at]) continue;
    for (NodeId id : graph.nodes[at].inputs) needed[static_cast<size_t>(id)] = true;
  }
  return needed;
}

Graph merged(const Graph& graph) {
  Graph result;
  result.guards = graph.guards;
  std::vector<NodeId> renamed(graph.nodes.size(), -1);
  std::map<std::string, NodeId> known;
  for (size_t at = 0; at < graph.nodes.size(); ++at) {
    Node node = graph.nodes[at];
    for (NodeId& id : node.inputs) id = renamed[static_cast<size_t>(id)];
    NodeId same = replacement(result.nodes, node);
    if (same < 0) {
      const auto [entry, fresh] =
          known.try_emplace(key_of(node), static_cast<NodeId>(result.nodes.size()));
      same = entry->second;
      if (fresh) result.nodes.push_back(std::move(node));
    }
    renamed[at] = same;
  }
  for (NamedNode input : graph.inputs) {
    result.inputs.push_back({input.name, renamed[static_cast<size_t>(input.node)]});
  }
  for (NamedNode output : graph.outputs) {
    result.outputs.push_back({output.name, renamed[static_cast<size_t>(output.node)]});
  }
  return result;
}

Graph without_dead(const Graph& graph) {
  const std::vector<bool> needed = needed_by_outputs(graph);
  Graph result;
  result.guards = graph.guards;
  std::vector<NodeId> renamed(graph.nodes.size(), -1);
  for (size_t at = 0; at < graph.nodes.size(); ++at) {
    if (!needed[at]) continue;
    Node node = graph.nodes[at];
    for (NodeId& id : node.inputs) id = renamed[static_cast<size_t>(id)];
    renamed[at] = static_cast<NodeId>(result.nodes.size());
    result.nodes.push_back(std::move(node));
  }
  for (NamedNode input : graph.inputs) {
    result.inputs.push_back({input.name, renamed[static_cast<size_t>(input.node)]});
  }
  for (NamedNode output : graph.outputs) {
    result.outputs.push_back({output.name, renamed[static_cast<size_t>(output.node)]});
  }
  return result;
}

}  // namespace

Graph simplify(const Graph& graph) { return without_dead(merged(graph)); }

}  // namespace kw::graph
