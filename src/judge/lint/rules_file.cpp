// Rules about the values in the reference's own file. With weights of ones and zeros, or inputs
// between 0 and 1, some ops have no effect. The judge draws its own values, so the findings are
// warnings. A harness that uses the file's values would accept a kernel without these ops. The
// rules draw each case again with the file's values and apply the ordinary rules to it. The cost is
// at least one more truth per sample.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "inputs/families.h"
#include "lint/rule.h"
#include "tensor/convert.h"

namespace kw::lint {

namespace {

constexpr double kSameAsInput = 1e-3;  // relative to the input's size; a usual default tolerance
constexpr size_t kMostNamed = 6;

std::string fill_text(const task::TensorSpec& spec) {
  if (spec.own.number) return fmt::format("{} = {:g}", spec.name, *spec.own.number);
  return fmt::format("{} in {:g} … {:g}", spec.name, *spec.own.low, *spec.own.high);
}

/// Formats a list such as "bn_weight = 1, bn_bias = 0, …".
std::string fills_text(const std::vector<const task::TensorSpec*>& specs) {
  std::vector<std::string> parts;
  for (const task::TensorSpec* spec : specs) {
    if (parts.size() == kMostNamed) {
      parts.push_back(fmt::format("and {} more", specs.size() - kMostNamed));
      break;
    }
    parts.push_back(fill_text(*spec));
  }
  return join(parts, ", ");
}

std::vector<const task::TensorSpec*> filled_inputs(const task::Task& task) {
  std::vector<const task::TensorSpec*> found;
  for (const task::TensorSpec& spec : task.inputs) {
    if (spec.own.known() && tensor::is_float(spec.dtype)) found.push_back(&spec);
  }
  return found;
}

/// Returns the same shape with tensors filled as the file fills them.
Result<LintCase> as_the_file_fills(LintContext& context, const LintCase& at) {
  task::Task task = context.task;
  for (task::TensorSpec& spec : task.inputs) {
    if (!spec.own.low) continue;
    spec.legal.float_low = spec.own.low;
    spec.legal.float_high = spec.own.high;
  }
  LintCase own{at.dims, at.graph, at.benchmark, {}, "tensors as the file fills them"};
  for (const Sample& drawn : at.samples) {
    Sample sample;
    sample.seed = drawn.seed;
    sample.inputs =
        KW_TRY(inputs::draw_inputs(task, at.graph, at.dims, family_for(task, 0), drawn.seed));
    for (size_t i = 0; i < at.graph.inputs.size(); ++i) {
      const task::TensorSpec* spec = task.find_input(at.graph.inputs[i].name);
      if (spec == nullptr || !spec->own.number) continue;
      tensor::HostTensor& tensor = sample.inputs[i];
      const std::vector<double> values(static_cast<size_t>(tensor::value_count(tensor)),
                                       *spec->own.number);
      tensor::store_floats(tensor, 0, values);
    }
    sample.truths = KW_TRY(context.oracle.truth(at.graph, sample.inputs, context.truth));
    own.samples.push_back(std::move(sample));
  }
  return own;
}

/// The last op of a function call of the reference, and the call's first input of the same shape.
struct Whole {
  graph::NodeId end = 0, input = 0;
};

std::vector<Whole> whole_ops(const graph::Graph& graph) {
  std::vector<Whole> found;
  const std::vector<bool> inside = inside_ops(graph);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const graph::Node& end = graph.nodes[i];
    if (inside[i] || !composed(end) || !tensor::is_float(end.dtype) || end.shape.empty()) continue;
    const auto same_call = [&](const graph::Node& node) {
      return node.origin == end.origin && node.line == end.line && node.column == end.column;
    };
    for (size_t k = 0; k <= i; ++k) {
      if (!same_call(graph.nodes[k]) || graph.nodes[k].inputs.empty()) continue;
      const graph::NodeId input = graph.nodes[k].inputs[0];
      const graph::Node& from = graph[input];
      const bool outer = !same_call(from) && from.op != graph::Op::Constant;
      if (!outer || !tensor::is_float(from.dtype) || from.shape != end.shape) continue;
      found.push_back({static_cast<graph::NodeId>(i), input});
      break;
    }
  }
  return found;
}

/// Finds calls that return their input, such as a norm at identity. Each op inside changes
/// something, but all together change nothing.
Status unchanged(LintContext& context, const LintCase& own, Findings* out) {
  const std::vector<Whole> ops = whole_ops(own.graph);
  if (ops.empty()) return Done{};
  graph::Graph shown = own.graph;
  shown.outputs.clear();
  for (const Whole& op : ops) {
    shown.outputs.push_back({fmt::format("n{}", op.end), op.end});
    shown.outputs.push_back({fmt::format("n{}", op.input), op.input});
  }
  const std::vector<ports::Truth> values =
      KW_TRY(context.oracle.truth(shown, own.samples[0].inputs, context.truth));
  for (size_t i = 0; i < ops.size(); ++i) {
    const ports::Truth &after = values[2 * i], &before = values[2 * i + 1];
    double size = 0, gap = 0;
    for (size_t e = 0; e < before.value.size(); ++e) {
      size = std::max(size, std::fabs(before.value[e]));
      gap = std::max(gap, std::fabs(after.value[e] - before.value[e]));
    }
    if (size == 0 || !(gap <= kSameAsInput * size)) continue;
    const graph::Node& end = own.graph[ops[i].end];
    report("hidden-op", Severity::Warning, end.origin,
           fmt::format("'{}' returns its input, up to {:.1g} of its size", end.origin, gap / size),
           own, out);
    out->back().line = end.line;
  }
  return Done{};
}

bool said_already(const Findings& before, const Finding& finding) {
  return std::ranges::any_of(before, [&](const Finding& other) {
    return other.rule == finding.rule && other.subject == finding.subject &&
           other.line == finding.line;
  });
}

}  // namespace

Status constant_init(LintContext& context, const LintCase& at, Findings* out) {
  std::vector<const task::TensorSpec*> weights = filled_inputs(context.task);
  std::erase_if(weights, [](const task::TensorSpec* spec) { return !spec->own.number; });
  if (weights.empty()) return Done{};
  report("constant-init", Severity::Warning, "",
         fmt::format("the file leaves {} of its weights at one number ({}): where they stay like "
                     "that, a kernel that never reads them passes",
                     weights.size(), fills_text(weights)),
         at, out);
  out->back().shape.clear();
  return Done{};
}

Status hidden_ops(LintContext& context, const LintCase& at, Findings* out) {
  const std::vector<const task::TensorSpec*> filled = filled_inputs(context.task);
  if (filled.empty() || at.samples.empty()) return Done{};
  const LintCase own = KW_TRY(as_the_file_fills(context, at));
  Findings found;
  for (auto* const rule :
       {output_range, constant_output, seed_spread, saturated_output, inactive_ops, unchanged})
    KW_TRY(rule(context, own, &found));
  for (Finding& finding : found) {
    if (said_already(*out, finding)) continue;
    finding.message =
        fmt::format("as the file fills its tensors ({}), {}", fills_text(filled), finding.message);
    finding.rule = "hidden-op";
    finding.severity = Severity::Warning;
    out->push_back(std::move(finding));
  }
  return Done{};
}

}  // namespace kw::lint
