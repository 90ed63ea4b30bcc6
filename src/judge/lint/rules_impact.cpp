// Rules that change one thing and check whether the outputs change. One input or weight is drawn
// again while all others stay the same. For ops that select, the rules count how often each operand
// is selected. The alternative, following dependences in the graph, would miss inputs whose effect
// is always below the bound. The cost is up to kTurns truths per input and one truth per sample for
// all selecting ops.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "inputs/families.h"
#include "lint/rule.h"
#include "ops/op_groups.h"
#include "ports/bound.h"
#include "tensor/convert.h"

namespace kw::lint {

namespace {

constexpr double kFewest = 1e-3;  // least share of elements that must change or be selected
constexpr int kTurns = 6;         // draws for an input that seems to have no effect
constexpr double kIdle = 0.75;    // share of zeros in an operand of a product
constexpr size_t kFewestFactors = 16;

/// Returns the share of output elements that changed by more than the sum of both bounds.
double moved(const std::vector<ports::Truth>& before, const std::vector<ports::Truth>& after) {
  double count = 0, changed = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    const ports::ElementBound old_bound(before[i], false), new_bound(after[i], false);
    count += static_cast<double>(before[i].value.size());
    for (size_t e = 0; e < before[i].value.size(); ++e) {
      const double a = before[i].value[e], b = after[i].value[e];
      const bool same = a == b || (std::isnan(a) && std::isnan(b)) ||
                        std::fabs(a - b) <= old_bound.at(e) + new_bound.at(e);
      changed += same ? 0 : 1;
    }
  }
  return count == 0 ? 1 : changed / count;
}

bool is_weight(const task::Task& task, const std::string& name) {
  const task::TensorSpec* spec = task.find_input(name);
  return spec != nullptr && spec->role == task::Role::Weight;
}

/// An op that returns one of its two last inputs, element by element.
bool chooses(graph::Op op) {
  return op == graph::Op::Where || ops::is_extremum(op);
}

bool may_do_nothing(graph::Op op) {
  return op == graph::Op::Add || op == graph::Op::Sub || op == graph::Op::Mul ||
         op == graph::Op::Div || op == graph::Op::Pow;
}

struct Watched {
  graph::NodeId node = 0, first = 0, second = 0;  // the op and its two operands
};

std::vector<Watched> watched_ops(const graph::Graph& graph) {
  std::vector<Watched> found;
  const std::vector<bool> inside = inside_ops(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const graph::Node& node = graph.nodes[i];
    if (!tensor::is_float(node.dtype) || node.shape.empty()) continue;
    if (inside[i] || (!chooses(node.op) && !may_do_nothing(node.op))) continue;
    const size_t last = node.inputs.size();
    found.push_back({static_cast<graph::NodeId>(i), node.inputs[last - 2], node.inputs[last - 1]});
  }
  return found;
}

/// Returns the graph with the watched ops and their operands as outputs.
graph::Graph exposed(const graph::Graph& graph, const std::vector<Watched>& ops) {
  graph::Graph shown = graph;
  shown.outputs.clear();
  for (const Watched& op : ops) {
    for (const graph::NodeId id : {op.node, op.first, op.second}) {
      shown.outputs.push_back({fmt::format("n{}", id), id});
    }
  }
  return shown;
}

struct Choice {
  double elements = 0, gave_first = 0, gave_second = 0;
};

void count(const ports::Truth& result, const ports::Truth& first, const ports::Truth& second,
           Choice* choice) {
  if (first.value.size() != result.value.size() || second.value.size() != result.value.size())
    return;
  choice->elements += static_cast<double>(result.value.size());
  for (size_t e = 0; e < result.value.size(); ++e) {
    choice->gave_first += result.value[e] == first.value[e] ? 1 : 0;
    choice->gave_second += result.value[e] == second.value[e] ? 1 : 0;
  }
}

std::string op_text(const graph::Node& node) {
  const std::string name = graph::op_info(node.op).name;
  return node.origin.empty() || node.origin == name ? fmt::format("'{}'", name)
                                                    : fmt::format("'{}' ({})", node.origin, name);
}

void judge_choice(const graph::Node& node, const Choice& choice, const LintCase& at,
                  Findings* out) {
  if (choice.elements == 0) return;
  const double first = choice.gave_first / choice.elements;
  const double second = choice.gave_second / choice.elements;
  std::string message;
  if (chooses(node.op)) {
    if (first > 1 - kFewest && second < 1) {
      message = fmt::format("{} never takes its second side", op_text(node));
    } else if (second > 1 - kFewest && first < 1) {
      message = fmt::format("{} never takes its first side", op_text(node));
    }
  } else if (first == 1 && !composed(node)) {  // an ELU's alpha of 1 is allowed
    message = fmt::format("{} changes nothing", op_text(node));
  }
  if (message.empty()) return;
  message += " for " + at.drawn;
  report("inactive-op", Severity::Warning, op_text(node), message, at, out);
  out->back().line = node.line;
}

/// Returns the largest share of outputs that a new value of one input changes, all others fixed.
/// Not set when the input has only one value. A small input may have no effect by chance (a bias
/// before a relu), so small shares are tried again.
Result<std::optional<double>> largest_share(LintContext& context, const LintCase& at,
                                            size_t input) {
  const Sample& sample = at.samples[0];
  std::optional<double> largest;
  for (int turn = 0; turn < kTurns; ++turn) {
    const std::vector<tensor::HostTensor> other = KW_TRY(inputs::draw_inputs(
        context.task, at.graph, at.dims, family_for(context.task, 1),
        inputs::derive_seed(context.options.seed, static_cast<uint64_t>(77 + turn))));
    if (sample.inputs[input].data == other[input].data) continue;
    std::vector<tensor::HostTensor> inputs = sample.inputs;
    inputs[input] = other[input];
    const std::vector<ports::Truth> after =
        KW_TRY(context.oracle.truth(at.graph, inputs, context.truth));
    largest = std::max(largest.value_or(0), moved(sample.truths, after));
    if (*largest >= kFewest) break;
  }
  return largest;
}

}  // namespace

bool composed(const graph::Node& node) {
  const bool name = node.origin.find_first_of(" ()[]*/+-") == std::string::npos;
  return name && !node.origin.empty() && node.origin != graph::op_info(node.op).name;
}

// Ops inside a call may be inactive: "normalize" guards against a norm of 0 that may never occur.
std::vector<bool> inside_ops(const graph::Graph& graph) {
  std::vector<bool> inside(graph.nodes.size(), false);
  for (const graph::Node& user : graph.nodes) {
    for (const graph::NodeId id : user.inputs) {
      const graph::Node& node = graph[id];
      if (composed(node) && user.origin == node.origin && user.line == node.line)
        inside[static_cast<size_t>(id)] = true;
    }
  }
  return inside;
}

// Finds operands that are mostly zero. The reference then computes unused products, and a kernel
// that skips them is faster for that reason alone.
Status idle_work(LintContext& context, const LintCase& at, Findings* out) {
  std::vector<Watched> products;
  for (size_t i = 0; i < at.graph.nodes.size(); ++i) {
    const graph::Node& node = at.graph.nodes[i];
    // Convolution windows read padding; at small shapes most of their elements are padding.
    const bool windows = node.origin.find("conv") != std::string::npos;
    if (node.op == graph::Op::MatMul && !windows)
      products.push_back({static_cast<graph::NodeId>(i), node.inputs[0], node.inputs[1]});
  }
  if (products.empty()) return Done{};
  const std::vector<ports::Truth> values = KW_TRY(
      context.oracle.truth(exposed(at.graph, products), at.samples[0].inputs, context.truth));
  for (size_t i = 0; i < products.size(); ++i) {
    const graph::Node& node = at.graph[products[i].node];
    for (const size_t side : {1, 2}) {
      const auto& all = values[3 * i + side].value;
      const auto zeros = static_cast<double>(std::ranges::count(all, 0.0));
      if (all.size() < kFewestFactors || zeros < kIdle * static_cast<double>(all.size())) continue;
      report("idle-work", Severity::Warning, op_text(node),
             fmt::format("an operand of {} is zero to {}: most of this work has no effect",
                         op_text(node), percent(zeros / static_cast<double>(all.size()))),
             at, out);
      out->back().line = node.line;
    }
  }
  return Done{};
}

Status input_impact(LintContext& context, const LintCase& at, Findings* out) {
  for (size_t i = 0; i < at.graph.inputs.size(); ++i) {
    const std::optional<double> share = KW_TRY(largest_share(context, at, i));
    if (!share || *share >= kFewest) continue;
    const bool weight = is_weight(context.task, at.graph.inputs[i].name);
    report(weight ? "init-impact" : "input-impact", Severity::Error, at.graph.inputs[i].name,
           fmt::format("changing only '{}' changes {} of the outputs", at.graph.inputs[i].name,
                       percent(*share)),
           at, out);
  }
  return Done{};
}

Status inactive_ops(LintContext& context, const LintCase& at, Findings* out) {
  const std::vector<Watched> ops = watched_ops(at.graph);
  if (ops.empty()) return Done{};
  const graph::Graph shown = exposed(at.graph, ops);
  std::vector<Choice> choices(ops.size());
  for (const Sample& sample : at.samples) {
    const std::vector<ports::Truth> values =
        KW_TRY(context.oracle.truth(shown, sample.inputs, context.truth));
    for (size_t i = 0; i < ops.size(); ++i) {
      count(values[3 * i], values[3 * i + 1], values[3 * i + 2], &choices[i]);
    }
  }
  for (size_t i = 0; i < ops.size(); ++i) judge_choice(at.graph[ops[i].node], choices[i], at, out);
  return Done{};
}

}  // namespace kw::lint
