// A backward task needs a reference for gradients. PyTorch's autograd can run, but it gives values,
// not a graph. So gradients are built as graph nodes in reverse order over the forward graph
// (reverse mode). Nodes are active when an input in `of` reaches them and they reach an output; all
// others are skipped. Closed forms come first, then the rule of each op kind. Forward mode would
// need one pass per input element. The cost: the forward graph is copied into the result, and
// simplify() must remove what no gradient uses.
#include "graph/derive.h"

#include <algorithm>
#include <set>

#include "core/check.h"
#include "core/contains.h"
#include "core/text.h"
#include "graph/derive_tape.h"
#include "ops/op_groups.h"

namespace kw::graph {

namespace {

// Whether a derivative flows to this operand. Indices, conditions and steps get none.
bool flows(const Node& node, size_t operand) {
  if (is_detached(node)) return false;
  if (ops::is_step(node.op)) return false;
  switch (node.op) {
    case Op::FloorDiv:
    case Op::Philox:
      return false;
    case Op::Copysign:
      return operand == 0;
    case Op::Where:
      return operand > 0;
    case Op::Gather:
    case Op::IndexSelect:
      return operand == 0;
    case Op::Scatter:
      return operand != 1;
    default:
      return true;
  }
}

bool differentiable(DType type) { return tensor::is_float(type); }

// Nodes that depend on one of these inputs in a differentiable way.
std::vector<bool> reached(const Graph& graph, const std::set<std::string>& inputs) {
  std::vector<bool> from(graph.nodes.size(), false);
  for (const NamedNode& input : graph.inputs) {
    if (inputs.count(input.name) && differentiable(graph[input.node].dtype))
      from[static_cast<size_t>(input.node)] = true;
  }
  for (size_t at = 0; at < graph.nodes.size(); ++at) {
    const Node& node = graph.nodes[at];
    if (!differentiable(node.dtype)) continue;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (from[static_cast<size_t>(node.inputs[i])] && flows(node, i)) from[at] = true;
    }
  }
  return from;
}

// Nodes that an output depends on in a differentiable way.
std::vector<bool> reaching(const Graph& graph) {
  std::vector<bool> to(graph.nodes.size(), false);
  for (const NamedNode& output : graph.outputs) {
    if (differentiable(graph[output.node].dtype)) to[static_cast<size_t>(output.node)] = true;
  }
  for (size_t at = graph.nodes.size(); at-- > 0;) {
    if (!to[at]) continue;
    const Node& node = graph.nodes[at];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const auto input = static_cast<size_t>(node.inputs[i]);
      if (flows(node, i) && differentiable(graph.nodes[input].dtype)) to[input] = true;
    }
  }
  return to;
}

std::set<std::string> names_of(const std::vector<NamedNode>& nodes) {
  std::set<std::string> names;
  for (const NamedNode& one : nodes) names.insert(one.name);
  return names;
}

Result<std::vector<std::string>> asked_for(const Graph& graph, const BackwardOptions& options) {
  const std::vector<std::string> all = differentiable_inputs(graph);
  if (options.of.empty()) {
    if (!all.empty()) return all;
    return input_error(
        "there is nothing to differentiate: no output depends on a float input in a "
        "differentiable way");
  }
  for (const std::string& name : options.of) {
    if (contains(all, name)) continue;
    const bool known = names_of(graph.inputs).count(name) > 0;
    return input_error(
        "no gradient by '{}': {}{}", name,
        known ? "no output depends on it in a differentiable way" : "there is no such input",
        known ? "" : did_you_mean(name, all));
  }
  return options.of;
}

Status derive_node(Tape& tape, NodeId y, NodeId g, const std::map<NodeId, Rule>& closed) {
  if (const auto rule = closed.find(y); rule != closed.end()) return rule->second(tape, g);
  const Node& node = tape.forward[y];
  switch (op_info(node.op).kind) {
    case OpKind::Pointwise:
      return derive_pointwise(tape, y, g, closed);
    case OpKind::Reduction:
      return derive_reduction(tape, y, g);
    case OpKind::Scan:
      return derive_scan(tape, y, g);
    case OpKind::Selection:
      return derive_selection(tape, y, g);
    case OpKind::Contraction:
      return derive_mat_mul(tape, y, g);
    case OpKind::Movement:
      return node.op == Op::Scatter ? derive_scatter(tape, y, g) : derive_movement(tape, y, g);
    default:
      return Done{};
  }
}

// Keeps only inputs that a node needs or that `keep` names, and renumbers them.
Graph with_inputs(const Graph& graph, const std::set<std::string>& keep) {
  std::vector<bool> needed(graph.nodes.size(), false);
  for (const Node& node : graph.nodes) {
    for (const NodeId input : node.inputs) needed[static_cast<size_t>(input)] = true;
  }
  for (const NamedNode& output : graph.outputs) needed[static_cast<size_t>(output.node)] = true;
  Graph result;
  result.guards = graph.guards;
  std::vector<NodeId> moved(graph.nodes.size(), -1);
  const auto move = [&](NodeId id) {
    Node node = graph[id];
    for (NodeId& input : node.inputs) input = moved[static_cast<size_t>(input)];
    moved[static_cast<size_t>(id)] = static_cast<NodeId>(result.nodes.size());
    result.nodes.push_back(std::move(node));
  };
  for (const NamedNode& input : graph.inputs) {
    if (!needed[static_cast<size_t>(input.node)] && !keep.count(input.name)) continue;
    move(input.node);
    result.nodes.back().attrs.integer = static_cast<int64_t>(result.inputs.size());
    result.inputs.push_back({input.name, moved[static_cast<size_t>(input.node)]});
  }
  for (size_t at = 0; at < graph.nodes.size(); ++at) {
    if (graph.nodes[at].op != Op::Input) move(static_cast<NodeId>(at));
  }
  for (const NamedNode& output : graph.outputs)
    result.outputs.push_back({output.name, moved[static_cast<size_t>(output.node)]});
  return result;
}

// The forward graph in which the saved outputs are inputs.
Graph with_saved(const Graph& forward, const std::vector<std::string>& saved) {
  Graph result = forward;
  for (const NamedNode& output : forward.outputs) {
    Node& node = result.nodes[static_cast<size_t>(output.node)];
    const bool asked = contains(saved, output.name);
    if (!asked || node.op == Op::Input) continue;
    node.op = Op::Input;
    node.inputs.clear();
    node.attrs = {};
    node.attrs.integer = static_cast<int64_t>(result.inputs.size());
    result.inputs.push_back({output.name, output.node});
  }
  return result;
}

Status check_names(const Graph& forward, const BackwardOptions& options) {
  const std::set<std::string> outputs = names_of(forward.outputs);
  for (const std::string& name : options.saved) {
    if (!outputs.count(name))
      return input_error("'{}' cannot be saved: the forward has no such output", name);
  }
  return Done{};
}

class Derivation {
 public:
  Derivation(const Graph& forward, const Graph& given, std::vector<bool> active)
      : forward_(forward), tape_(forward, std::move(active)), given_(given) {}

  Result<Graph> run(const std::vector<std::string>& of, const BackwardOptions& options) {
    copy_forward();
    KW_TRY(seed(of));
    const std::map<NodeId, Rule> closed = closed_forms(tape_);
    for (size_t at = forward_.nodes.size(); at-- > 0;) {
      const auto y = static_cast<NodeId>(at);
      const std::optional<NodeId> g = tape_.gradient(y);
      if (!g || !tape_.needs_gradient(y)) continue;
      place(y);
      KW_TRY(derive_node(tape_, y, *g, closed));
    }
    return finish(of, options);
  }

 private:
  void place(NodeId id) {
    const Node& node = forward_[id];
    tape_.b.at(node.origin, node.line, node.column);
  }

  void copy_forward() {
    for (size_t at = 0; at < given_.nodes.size(); ++at) {
      const auto id = static_cast<NodeId>(at);
      place(id);
      const Node& node = given_.nodes[at];
      Result<NodeId> added =
          node.op == Op::Input ? tape_.b.input("", node.dtype, node.shape) : tape_.b.add(node);
      KW_CHECK(added && *added == id, "the forward graph is sound");
    }
    for (const std::string& guard : forward_.guards) tape_.b.guard(guard);
  }

  Status seed(const std::vector<std::string>& of) {
    std::set<std::string> taken = names_of(given_.inputs);
    for (const std::string& name : of) taken.insert(gradient_name(name));
    const std::vector<std::string> outputs = differentiable_outputs(forward_, of);
    for (const NamedNode& output : forward_.outputs) {
      if (!contains(outputs, output.name)) continue;
      std::string name = gradient_name(output.name);
      while (!taken.insert(name).second) name += "_out";
      const Node& node = forward_[output.node];
      tape_.b.at(name, 0, 0);
      seeds_.push_back({name, tape_.b.input(name, node.dtype, node.shape)});
      KW_TRY(tape_.give(output.node, seeds_.back().node));
    }
    return Done{};
  }

  Result<Graph> finish(const std::vector<std::string>& of, const BackwardOptions& options) {
    std::vector<NamedNode> outputs;
    std::set<std::string> keep(options.keep.begin(), options.keep.end());
    for (const NamedNode& seed : seeds_) keep.insert(seed.name);
    for (const std::string& name : of) {
      const auto input = std::ranges::find_if(
          forward_.inputs, [&](const NamedNode& one) { return one.name == name; });
      const std::optional<NodeId> g = tape_.gradient(input->node);
      outputs.push_back({gradient_name(name), g ? *g : KW_TRY(zeros_like(tape_.b, input->node))});
    }
    Graph graph = std::move(tape_.b).finish(std::move(outputs));
    graph.inputs = given_.inputs;
    graph.inputs.insert(graph.inputs.end(), seeds_.begin(), seeds_.end());
    Graph result = with_inputs(simplify(without_marks(graph)), keep);
    KW_TRY(verify(result));
    return result;
  }

  const Graph& forward_;
  Tape tape_;
  const Graph& given_;
  std::vector<NamedNode> seeds_;
};

}  // namespace

std::string gradient_name(const std::string& of) { return "grad_" + of; }

std::vector<std::string> differentiable_inputs(const Graph& forward) {
  const std::vector<bool> from = reached(forward, names_of(forward.inputs));
  const std::vector<bool> to = reaching(forward);
  std::vector<std::string> names;
  for (const NamedNode& input : forward.inputs) {
    const auto at = static_cast<size_t>(input.node);
    if (from[at] && to[at]) names.push_back(input.name);
  }
  return names;
}

std::vector<std::string> differentiable_outputs(const Graph& forward,
                                                const std::vector<std::string>& inputs) {
  const std::vector<bool> from = reached(forward, {inputs.begin(), inputs.end()});
  std::vector<std::string> names;
  for (const NamedNode& output : forward.outputs) {
    if (from[static_cast<size_t>(output.node)]) names.push_back(output.name);
  }
  return names;
}

Result<Graph> backward(const Graph& forward, const BackwardOptions& options) {
  KW_TRY(check_names(forward, options));
  const std::vector<std::string> of = KW_TRY(asked_for(forward, options));
  const Graph merged = simplify(forward);
  std::vector<bool> active = reached(merged, {of.begin(), of.end()});
  const std::vector<bool> to = reaching(merged);
  for (size_t i = 0; i < active.size(); ++i) active[i] = active[i] && to[i];
  const Graph given = with_saved(merged, options.saved);
  return Derivation(merged, given, std::move(active)).run(of, options);
}

}  // namespace kw::graph
