// A kernel for gradients needs a task of its own: inputs, outputs and shapes. We derive the graph
// of the gradients from the forward's graph, so an op row needs no backward of its own. The
// alternative, a reference that calls autograd, would need PyTorch to be installed. The cost: the
// derivation runs at every shape of the task. The gradients at one shape may need an input that
// another shape does not need, so the task keeps all of them.
#include "frontend/backward.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "core/contains.h"
#include "core/text.h"
#include "frontend/trace.h"

namespace kw::frontend {
namespace {

using Names = std::vector<std::string>;

/// The buffers of the forward's module: running statistics, tables. Without a Python reference only
/// running statistics are recognized, by their names.
std::set<std::string> buffers_of(const task::Task& task, const task::Dims& dims) {
  std::set<std::string> names;
  const auto* python = dynamic_cast<const PythonReference*>(task.reference.get());
  if (python != nullptr) {
    const Result<Trace> trace = trace_entry(python->entry(), dims);
    for (const Weight& weight : trace ? trace->weights : std::vector<Weight>{}) {
      if (!weight.trained) names.insert(weight.name);
    }
    return names;
  }
  for (const task::TensorSpec& spec : task.inputs) {
    const bool statistics =
        spec.name.ends_with("running_mean") || spec.name.ends_with("running_var");
    if (spec.role == task::Role::Weight && statistics) names.insert(spec.name);
  }
  return names;
}

Result<graph::Graph> trace_forward(const task::Reference& reference, const task::Dims& dims) {
  const auto* python = dynamic_cast<const PythonReference*>(&reference);
  return python != nullptr ? python->trace_marked(dims) : reference.trace(dims);
}

/// Gradients are those of the returned tensors; autograd refuses leaves that are written in place.
std::shared_ptr<const task::Reference> returning(std::shared_ptr<const task::Reference> reference) {
  const auto* python = dynamic_cast<const PythonReference*>(reference.get());
  if (python == nullptr) return reference;
  TraceEntry entry = python->entry();
  entry.returns_only = true;
  return std::make_shared<PythonReference>(std::move(entry));
}

std::vector<task::Dims> shapes_of(const task::Task& task) {
  std::vector<task::Dims> shapes = task.benchmark_shapes;
  shapes.insert(shapes.end(), task.correctness_shapes.begin(), task.correctness_shapes.end());
  return shapes;
}

Error nothing_to_do(const task::Task& task) {
  const bool floats =
      std::any_of(task.inputs.begin(), task.inputs.end(),
                  [](const task::TensorSpec& spec) { return tensor::is_float(spec.dtype); });
  return input_error("{} has no backward: {}", task.name,
                     floats ? "no output depends on a float input in a differentiable way"
                            : "it has no float inputs");
}

Result<Names> asked_for(const task::Task& task, const graph::Graph& graph, const task::Dims& dims,
                        const BackwardTaskOptions& options) {
  const Names all = graph::differentiable_inputs(graph);
  if (!options.of.empty()) {
    for (const std::string& name : options.of) {
      if (contains(all, name)) continue;
      const bool known = task.find_input(name) != nullptr;
      return input_error(
          "{} has no gradient by '{}': {}; it has: {}", task.name, name,
          known ? "no output depends on it in a differentiable way" : "there is no such input",
          all.empty() ? "none" : join(all, ", "));
    }
    return options.of;
  }
  const std::set<std::string> buffers = buffers_of(task, dims);
  Names chosen;
  std::copy_if(all.begin(), all.end(), std::back_inserter(chosen),
               [&](const std::string& name) { return buffers.count(name) == 0; });
  if (chosen.empty()) return nothing_to_do(task);
  return chosen;
}

task::TensorSpec upstream(const graph::Graph& backward, const graph::NamedNode& input) {
  task::TensorSpec spec;
  spec.name = input.name;
  spec.dtype = backward[input.node].dtype;
  for (const graph::Dim& extent : backward[input.node].shape) spec.shape.push_back(extent.text());
  return spec;
}

/// Shapes are texts over the dims. At every shape of the task they must give the traced extents.
Status check_shapes(const task::Task& task, const graph::Graph& graph, const task::Dims& dims) {
  for (const graph::NamedNode& input : graph.inputs) {
    const task::TensorSpec* spec = task.find_input(input.name);
    if (spec == nullptr)
      return input_error("at {} the gradients also need '{}'", task::dims_text(dims), input.name);
    const std::vector<int64_t> shape = KW_TRY(task.shape_of(*spec, dims));
    if (shape != graph::values_of(graph[input.node].shape))
      return input_error(
          "'{}' is [{}] at one shape of the task, but {} at {}: this task has no backward for "
          "several shapes",
          input.name, join(spec->shape, ", "), graph::values_text(graph[input.node].shape),
          task::dims_text(dims));
  }
  return Done{};
}

void describe(const task::Task& forward, const Names& of, task::Task& task) {
  task.notes.push_back(
      fmt::format("gradients of {} by {}", join(forward.output_names, ", "), join(of, ", ")));
  Names dropped;
  for (const task::TensorSpec& spec : forward.inputs) {
    if (task.find_input(spec.name) == nullptr) dropped.push_back(spec.name);
  }
  if (!dropped.empty())
    task.notes.push_back(fmt::format("no gradient needs the values of {}", join(dropped, ", ")));
  if (task.precision.atol || task.precision.rtol)
    task.notes.emplace_back("atol and rtol are the forward's: not asked of gradients");
  task.precision.atol.reset();
  task.precision.rtol.reset();
}

}  // namespace

std::optional<std::string> forward_function(const std::string& function) {
  constexpr std::string_view kSuffix = ".backward";
  if (function == kSuffix.substr(1)) return "";
  if (!function.ends_with(kSuffix)) return std::nullopt;
  return function.substr(0, function.size() - kSuffix.size());
}

Result<graph::Graph> BackwardReference::trace(const task::Dims& dims) const {
  const graph::Graph forward = KW_TRY(trace_forward(*forward_, dims));
  Result<graph::Graph> graph = graph::backward(forward, options_);
  if (!graph) return std::move(graph).error().context("backward");
  return graph;
}

Result<task::Task> backward_task(const task::Task& forward, const BackwardTaskOptions& options) {
  const std::vector<task::Dims> shapes = shapes_of(forward);
  const std::shared_ptr<const task::Reference> returns = returning(forward.reference);
  const graph::Graph traced = KW_TRY(trace_forward(*returns, shapes.front()));
  graph::BackwardOptions wanted;
  wanted.of = KW_TRY(asked_for(forward, traced, shapes.front(), options));
  std::set<std::string> needed;
  graph::Graph backward;
  for (const task::Dims& dims : shapes) {
    graph::Graph one = KW_TRY(BackwardReference(returns, wanted).trace(dims));
    for (const graph::NamedNode& input : one.inputs) needed.insert(input.name);
    if (backward.nodes.empty()) backward = std::move(one);
  }
  task::Task task = forward;
  task.name = forward.name + ".backward";
  std::erase_if(task.inputs,
                [&](const task::TensorSpec& spec) { return needed.count(spec.name) == 0; });
  for (task::TensorSpec& spec : task.inputs) {
    spec.written = false;
    wanted.keep.push_back(spec.name);
  }
  for (const graph::NamedNode& input : backward.inputs) {
    if (forward.find_input(input.name) == nullptr) task.inputs.push_back(upstream(backward, input));
  }
  task.call.reset();
  task.set_outputs(backward);
  describe(forward, wanted.of, task);
  auto reference = std::make_shared<BackwardReference>(returns, wanted);
  task.reference = reference;
  for (const task::Dims& dims : shapes) {
    const graph::Graph graph = KW_TRY(task.graph_at(dims));
    KW_TRY(check_shapes(task, graph, dims));
  }
  return task;
}

}  // namespace kw::frontend
