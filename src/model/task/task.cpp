// Verdicts, stores and caches refer to a task by its hash, so a task must be complete data.
// to_json() writes the data that identifies a task. The graph is not included: it follows from the
// source, whose hash is. A reference may behave differently at other dims. graph_at() traces again
// for each shape and refuses a trace whose inputs or outputs differ from the task's. A task with
// several sets of tensors would need a kernel module for each. Extents are expressions in the
// grammar of kernel modules, so one evaluator serves both. The cost: each new field must be added
// to to_json(), or two different tasks get one hash.
#include "task/task.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/hash.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "graph/promote.h"
#include "kernel/cursor.h"
#include "kernel/expr.h"
#include "kernel/number_expr.h"
#include "kernel/parse_expr.h"

namespace kw::task {

Reference::~Reference() = default;

const TensorSpec* Task::find_input(const std::string& name_) const {
  for (const TensorSpec& spec : inputs) {
    if (spec.name == name_) return &spec;
  }
  return nullptr;
}

namespace {

TensorForm form_of(const graph::Graph& graph, const graph::NamedNode& named) {
  return {graph[named.node].dtype, graph[named.node].shape.size()};
}

std::string form_text(const TensorForm& form) {
  return fmt::format("{} with {} dimension{}", tensor::dtype_name(form.dtype), form.rank,
                     form.rank == 1 ? "" : "s");
}

/// "no 'shortcut_weight'", "also 'bias'", "'x' is fp16 with 2 dimensions, not …"; "" when all
/// match.
std::string other_inputs(const Task& task, const graph::Graph& graph) {
  std::vector<std::string> parts;
  const auto find = [&](const std::string& name) {
    return std::ranges::find(graph.inputs, name, &graph::NamedNode::name);
  };
  for (const TensorSpec& spec : task.inputs) {
    const auto at = find(spec.name);
    const TensorForm wanted{spec.dtype, spec.shape.size()};
    if (at == graph.inputs.end())
      parts.push_back(fmt::format("no '{}'", spec.name));
    else if (form_of(graph, *at) != wanted)
      parts.push_back(fmt::format("'{}' is {}, not {}", spec.name, form_text(form_of(graph, *at)),
                                  form_text(wanted)));
  }
  for (const graph::NamedNode& input : graph.inputs) {
    if (task.find_input(input.name) == nullptr)
      parts.push_back(fmt::format("also '{}'", input.name));
  }
  const bool in_order =
      std::ranges::equal(graph.inputs, task.inputs, {}, &graph::NamedNode::name, &TensorSpec::name);
  if (parts.empty() && !in_order) parts.emplace_back("another order");
  return join(parts, ", ");
}

std::string other_outputs(const Task& task, const graph::Graph& graph) {
  if (task.output_forms.empty()) return "";
  if (task.output_forms.size() != graph.outputs.size())
    return fmt::format("{} instead of {}", graph.outputs.size(), task.output_forms.size());
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const TensorForm form = form_of(graph, graph.outputs[i]);
    if (form != task.output_forms[i])
      return fmt::format("'{}' is {}, not {}", graph.outputs[i].name, form_text(form),
                         form_text(task.output_forms[i]));
  }
  return "";
}

}  // namespace

bool DimRange::takes(int64_t extent) const {
  return extent >= low && extent <= high && extent % multiple == 0;
}

int64_t DimRange::nearest(int64_t wanted) const {
  const int64_t least = up(std::max<int64_t>(low, 0)), most = high / multiple * multiple;
  return std::clamp(up(wanted), least, std::max(least, most));
}

void Task::set_outputs(const graph::Graph& graph) {
  output_names.clear();
  output_forms.clear();
  for (const graph::NamedNode& output : graph.outputs) {
    output_names.push_back(output.name);
    output_forms.push_back(form_of(graph, output));
  }
}

std::string Task::difference(const graph::Graph& graph) const {
  if (std::string in = other_inputs(*this, graph); !in.empty()) return "inputs (" + in + ")";
  const std::string out = other_outputs(*this, graph);
  return out.empty() ? "" : "outputs (" + out + ")";
}

Result<graph::Graph> Task::graph_at(const Dims& dims_) const {
  graph::Graph graph = KW_TRY(reference->trace(dims_));
  const std::string other = difference(graph);
  if (other.empty()) return graph;
  return input_error(
      "the reference does not have the task's {} at this shape\n  hint: a task has one set of "
      "tensors at every shape: omit this shape, or make it a separate task",
      other);
}

namespace {

/// A larger extent is certainly an error. Kernel modules have the same limit for dims.
constexpr int64_t kMaxExtent = int64_t{1} << 40;

Result<int64_t> extent_of(const std::string& text, const kernel::Scope& scope) {
  std::vector<cuda_source::Diagnostic> diagnostics;
  kernel::Cursor cursor(text, 0, 0, text.size(), diagnostics);
  const auto expr = kernel::parse_expression(cursor);
  if (!expr || !cursor.at_end()) return input_error("'{}' is not a shape expression", text);
  const int64_t value = KW_TRY(kernel::evaluate(*expr, scope));
  if (value < 0 || value > kMaxExtent)
    return input_error("extent '{}' is {} ({}), outside 0 … 2^40", text, value,
                       kernel::values_of(*expr, scope));
  return value;
}

}  // namespace

Result<int64_t> extent_at(const std::string& expression, const Dims& at) {
  kernel::Scope scope;
  scope.values = at;
  return extent_of(expression, scope);
}

Result<std::vector<int64_t>> Task::shape_of(const TensorSpec& spec, const Dims& at) const {
  std::vector<int64_t> shape;
  for (const std::string& text : spec.shape) {
    auto extent = extent_at(text, at);
    if (!extent) return std::move(extent).error().context(fmt::format("shape of '{}'", spec.name));
    shape.push_back(*extent);
  }
  return shape;
}

Result<graph::Graph> with_scalars(const Task& task, const Dims& at, graph::Graph graph,
                                  const std::map<std::string, double>& values) {
  kernel::Scope scope;
  scope.values = at;
  std::map<std::string, double> floats = values;
  for (const ScalarSpec& spec : task.scalars) floats.emplace(spec.name, spec.value());
  for (graph::Node& node : graph.nodes) {
    const std::string& text = node.attrs.number_text;
    if (text.empty()) continue;
    const auto expr = kernel::parse_number(text);
    if (!expr) return input_error("'{}' is not a number of a plan", text);
    const double number = KW_TRY(kernel::evaluate(*expr, scope, floats));
    if (tensor::is_float(node.dtype))
      node.attrs.number = graph::round_to(graph::opmath(node.dtype), number);
    else
      node.attrs.integer = static_cast<int64_t>(number);
  }
  graph.scalars = values;
  return graph;
}

std::string dims_text(const Dims& dims) {
  std::string text;
  for (const auto& [name, value] : dims)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

namespace {

Json legal_json(const Legal& legal) {
  Json result = Json::object();
  if (legal.low) result.set("low", *legal.low);
  if (legal.high) result.set("high", *legal.high);
  if (!legal.below.empty()) result.set("below", legal.below);
  if (legal.float_low) result.set("float_low", *legal.float_low);
  if (legal.float_high) result.set("float_high", *legal.float_high);
  if (legal.permutation) result.set("permutation", true);
  if (legal.positive) result.set("positive", true);
  if (legal.structure != Structure::General)
    result.set("structure", legal.structure == Structure::Upper   ? "upper"
                            : legal.structure == Structure::Lower ? "lower"
                                                                  : "symmetric");
  return result;
}

Json input_json(const TensorSpec& spec) {
  Json result = Json::object();
  result.set("name", spec.name).set("dtype", tensor::dtype_name(spec.dtype));
  result.set("shape", json_of(spec.shape));
  result.set("role", spec.role == Role::Weight ? "weight" : "input");
  Json legal = legal_json(spec.legal);
  if (!legal.members().empty()) result.set("legal", std::move(legal));
  if (spec.optional) result.set("optional", true);
  if (spec.written) result.set("written", true);
  return result;
}

Json scalar_json(const ScalarSpec& spec) {
  Json result = Json::object();
  result.set("name", spec.name).set("dtype", tensor::dtype_name(spec.dtype));
  if (tensor::is_float(spec.dtype))
    result.set("value", spec.number);
  else
    result.set("value", spec.integer);
  if (spec.runtime) result.set("runtime", true);
  return result;
}

Json shapes_json(const std::vector<Dims>& shapes) {
  Json result = Json::array();
  for (const Dims& dims : shapes) {
    result.push(json_of(dims));
  }
  return result;
}

Json precision_json(const Precision& precision) {
  Json result = Json::object();
  result.set("allow_tf32", precision.allow_tf32).set("flush", precision.flush);
  result.set("deterministic", precision.deterministic);
  if (precision.batch_invariant) result.set("batch_invariant", true);  // older hashes stay
  result.set("nan", precision.nan == NanPolicy::Never ? "never" : "propagate");
  if (precision.atol) result.set("atol", *precision.atol);
  if (precision.rtol) result.set("rtol", *precision.rtol);
  return result;
}

}  // namespace

Json to_json(const Task& task) {
  Json result = Json::object();
  result.set("name", task.name).set("prompt", task.prompt).set("format", task.format);
  result.set("source_path", task.source_path).set("source_hash", hash_hex(task.source));
  Json inputs = Json::array();
  for (const TensorSpec& spec : task.inputs) inputs.push(input_json(spec));
  result.set("inputs", std::move(inputs));
  Json scalars = Json::array();
  for (const ScalarSpec& spec : task.scalars) scalars.push(scalar_json(spec));
  result.set("scalars", std::move(scalars)).set("outputs", json_of(task.output_names));
  Json dims = Json::object();
  for (const auto& [name, range] : task.dims) {
    Json one = Json::object();
    one.set("low", range.low).set("high", range.high).set("multiple", range.multiple);
    dims.set(name, std::move(one));
  }
  result.set("dims", std::move(dims));
  result.set("correctness_shapes", shapes_json(task.correctness_shapes));
  result.set("benchmark_shapes", shapes_json(task.benchmark_shapes));
  result.set("precision", precision_json(task.precision)).set("notes", json_of(task.notes));
  return result;
}

std::string task_hash(const Task& task) {
  Json json = to_json(task);
  // The same task read from another folder must have the same hash.
  json.set("source_path", "").set("notes", Json());
  return hash_hex(json.dump());
}

}  // namespace kw::task
