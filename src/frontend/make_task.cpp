#include "frontend/make_task.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace kw::frontend {
namespace {

/// Elements an assumed benchmark shape is to have, if every dim stands for one extent.
constexpr int kAssumedBits = 24;
constexpr int64_t kSmallExtent = 64;

Error unknown_dim(const std::string& name, const task::Dims& known) {
  std::vector<std::string> names;
  for (const auto& [one, value] : known) names.push_back(one);
  return input_error(fmt::format("the task has no dim '{}'{}; its dims are: {}", name,
                                 did_you_mean(name, names),
                                 names.empty() ? "none" : join(names, ", ")));
}

task::Dims assume(const std::set<std::string>& names, const TaskDraft& draft,
                  std::vector<std::string>& notes) {
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (!draft.given.count(name) && !draft.file.count(name)) missing.push_back(name);
  }
  task::Dims assumed;
  if (missing.empty()) return assumed;
  const int64_t value = int64_t{1} << (kAssumedBits / static_cast<int>(missing.size()));
  for (const std::string& name : missing) assumed[name] = std::max<int64_t>(value, 8);
  notes.push_back(fmt::format("no values for {}: assumed {}; pass --dims to choose",
                              join(missing, ", "), task::dims_text(assumed)));
  return assumed;
}

/// Values for every dim: what the user gave, the file's, or assumed ones.
Result<task::Dims> settle_dims(const TaskDraft& draft, std::vector<std::string>& notes) {
  std::set<std::string> names = names_of(draft.entry.arguments);
  for (const Argument& argument : draft.entry.arguments) {
    if (std::holds_alternative<DimArgument>(argument.value)) names.insert(argument.name);
  }
  task::Dims start = draft.given;
  for (const auto& [name, value] : assume(names, draft, notes)) start.emplace(name, value);
  const Trace probe = KW_TRY(trace_entry(draft.entry, start, true));
  for (const Weight& weight : probe.weights) {
    for (const std::string& text : weight.shape) names.merge(names_in(text));
  }
  task::Dims dims;
  for (const std::string& name : names) {
    const auto given = start.find(name);
    const auto file = draft.file.find(name);
    if (given != start.end())
      dims[name] = given->second;
    else if (file != draft.file.end())
      dims[name] = file->second;
  }
  for (const auto& [name, value] : draft.given) {
    if (!names.count(name) && !draft.file.count(name)) return unknown_dim(name, dims);
    dims[name] = value;
  }
  for (const auto& [name, value] : dims) {
    if (value < 0 || value > int64_t{1} << 40)
      return input_error(fmt::format("dim {} = {} is outside 0 … 2^40", name, value));
  }
  return dims;
}

task::TensorSpec input_spec(const Argument& argument, const TensorArgument& tensor,
                            const Trace& trace) {
  task::TensorSpec spec;
  spec.name = argument.name;
  spec.dtype = tensor.text.dtype;
  spec.shape = tensor.text.shape;
  spec.legal = tensor.text.legal;
  spec.written =
      std::find(trace.written.begin(), trace.written.end(), argument.name) != trace.written.end();
  return spec;
}

void add_inputs(task::Task& task, const Entry& entry, const Trace& trace) {
  for (const Argument& argument : entry.arguments) {
    const auto& dropped = trace.write_only;
    if (std::find(dropped.begin(), dropped.end(), argument.name) != dropped.end()) continue;
    if (const auto* tensor = std::get_if<TensorArgument>(&argument.value))
      task.inputs.push_back(input_spec(argument, *tensor, trace));
    if (const auto* scalar = std::get_if<task::ScalarSpec>(&argument.value))
      task.scalars.push_back(*scalar);
  }
  for (const Weight& weight : trace.weights) {
    task::TensorSpec spec;
    spec.name = weight.name;
    spec.dtype = weight.dtype;
    spec.shape = weight.shape;
    spec.legal = weight.legal;
    spec.role = task::Role::Weight;
    task.inputs.push_back(std::move(spec));
  }
}

Status check_inputs(const task::Task& task, const task::Dims& dims) {
  for (const task::TensorSpec& spec : task.inputs) {
    const std::vector<int64_t> shape = KW_TRY(task.shape_of(spec, dims));
    if (std::find(shape.begin(), shape.end(), 0) != shape.end())
      return input_error(fmt::format("input '{}' has no elements: its shape is [{}]{}", spec.name,
                                     join(spec.shape, ", "),
                                     dims.empty() ? "" : " at " + task::dims_text(dims)));
  }
  return Done{};
}

}  // namespace

std::set<std::string> names_of(const std::vector<Argument>& arguments) {
  std::set<std::string> names;
  for (const Argument& argument : arguments) {
    const auto* tensor = std::get_if<TensorArgument>(&argument.value);
    if (!tensor) continue;
    for (const std::string& text : tensor->text.shape) names.merge(names_in(text));
    if (!tensor->text.legal.high_dim.empty()) names.insert(tensor->text.legal.high_dim);
  }
  return names;
}

task::Dims shrunk(const task::Dims& dims) {
  task::Dims result = dims;
  for (auto& [name, value] : result) {
    while (value > kSmallExtent && value % 2 == 0) value /= 2;
  }
  return result;
}

std::string stem_of(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.ends_with(".py") ? name.substr(0, name.size() - 3) : name;
}

Result<task::Task> make_task(TaskDraft draft) {
  task::Task task;
  task.notes = draft.notes;
  const task::Dims dims = KW_TRY(settle_dims(draft, task.notes));
  const Trace trace = KW_TRY(trace_entry(draft.entry, dims));
  task.name = stem_of(draft.entry.source->path);
  task.source_path = draft.entry.source->path;
  task.source = draft.entry.source->text;
  task.format = draft.format;
  task.scalars = draft.defaults;
  add_inputs(task, draft.entry, trace);
  KW_TRY(check_inputs(task, dims));
  for (const graph::NamedNode& output : trace.graph.outputs)
    task.output_names.push_back(output.name);
  for (const auto& [name, value] : dims) task.dims[name] = {};
  task.precision.allow_tf32 = trace.allow_tf32;
  task.precision.atol = draft.atol;
  task.precision.rtol = draft.rtol;
  task.notes.insert(task.notes.end(), trace.notes.begin(), trace.notes.end());
  task.benchmark_shapes = {dims};
  const task::Dims small = shrunk(dims);
  const auto again = trace_entry(draft.entry, small);
  task.correctness_shapes = {again ? small : dims};
  if (dims.empty())
    task.notes.emplace_back(
        "all extents are numbers: name them (B = 16 at file level) to have other shapes derived");
  task.reference = std::make_shared<PythonReference>(std::move(draft.entry));
  return task;
}

}  // namespace kw::frontend
