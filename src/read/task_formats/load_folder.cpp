// The problem: a task.toml and its reference describe the same task, and they may disagree. The
// choice: the file's inputs, scalars and shapes are given to the common loader first. Then its
// ranges, roles and bounds are applied, and the reference is traced at every shape. The
// alternative, trusting task.toml, would report a wrong shape only when a kernel runs. The cost:
// loading time grows with the number of shapes.
#include "task_formats/load_folder.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/text.h"
#include "frontend/backward.h"
#include "frontend/make_task.h"
#include "os/file_error.h"
#include "os/files.h"
#include "os/inside.h"
#include "task_formats/load_source.h"
#include "task_formats/task_toml.h"

namespace kw::task_formats {
namespace {

constexpr uint64_t kMaxTextBytes = 1 << 20;

std::string folder_of(const std::string& path) {
  if (os::is_directory(path)) {
    std::string folder = path;
    while (folder.size() > 1 && folder.ends_with("/")) folder.pop_back();
    return folder;
  }
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

LoadRequest request_of(const TaskToml& toml, const LoadOptions& options) {
  LoadRequest request;
  request.function = options.function.empty() ? toml.function : options.function;
  request.output_names = toml.outputs;
  if (!toml.benchmark.empty())
    request.dims = toml.benchmark[0];
  else if (!toml.correctness.empty())
    request.dims = toml.correctness[0];
  for (const auto& [name, value] : options.dims) request.dims[name] = value;
  request.ranges = toml.dims;
  for (const auto& [name, input] : toml.inputs) {
    frontend::GivenInput given;
    given.name = name;
    given.value = input.tensor;
    given.written = input.written;
    request.inputs.push_back(std::move(given));
  }
  for (const auto& [name, scalar] : toml.scalars) {
    frontend::GivenInput given;
    given.name = name;
    given.value = scalar;
    request.inputs.push_back(std::move(given));
  }
  return request;
}

Status apply_shapes(task::Task& task, const TaskToml& toml, const LoadOptions& options,
                    const std::string& where) {
  for (const auto& [name, range] : toml.dims) {
    if (!task.dims.count(name))
      return input_error("{}: dim '{}' appears in no shape of the task", where, name);
    task.dims[name] = range;
  }
  if (!toml.benchmark.empty() && options.dims.empty()) task.benchmark_shapes = toml.benchmark;
  if (!toml.correctness.empty()) task.correctness_shapes = toml.correctness;
  for (const task::Dims& shape : task.benchmark_shapes) KW_TRY(check_shape(task, shape, where));
  // A default shape may lie outside the ranges of task.toml; the benchmark shapes then replace it.
  if (toml.correctness.empty() && !check_shape(task, task.correctness_shapes[0], where))
    task.correctness_shapes = task.benchmark_shapes;
  for (const task::Dims& shape : task.correctness_shapes) KW_TRY(check_shape(task, shape, where));
  return Done{};
}

/// A misspelt bound must not create a new dim.
Status check_bounds(const TaskToml& toml, const std::string& where) {
  std::set<std::string> known;
  for (const auto& [name, range] : toml.dims) known.insert(name);
  for (const auto& [name, input] : toml.inputs) {
    for (const std::string& text : input.tensor.shape) known.merge(frontend::names_in(text));
  }
  for (const auto& [name, input] : toml.inputs) {
    const std::string& below = input.tensor.legal.below;
    const std::set<std::string> names = frontend::names_in(below);
    for (const std::string& one : names) {
      if (!known.count(one))
        return input_error("{}: '{}' must stay below '{}', which is not a dim of the task", where,
                           name, one);
    }
    if (!below.empty() && names.empty())
      return input_error("{}: '{}' must stay below '{}', which has no dim; write high = …", where,
                         name, below);
  }
  return Done{};
}

void apply_inputs(task::Task& task, const TaskToml& toml) {
  for (const auto& [name, input] : toml.inputs) {
    const auto spec = std::find_if(task.inputs.begin(), task.inputs.end(),
                                   [&name = name](const auto& one) { return one.name == name; });
    if (spec == task.inputs.end()) continue;  // only written: an output
    spec->role = input.role;
    spec->optional = input.optional;
    spec->legal.float_low = input.tensor.legal.float_low;
    spec->legal.float_high = input.tensor.legal.float_high;
  }
}

/// The Error with the place of what may have caused it. A place in the reference stays.
Error blamed(Error error, const TaskToml& toml, const LoadOptions& options,
             const std::string& toml_path, const std::string& reference) {
  const std::string prefix = reference + ": ";
  if (!error.message.starts_with(prefix)) return error;
  const bool listed =
      options.dims.empty() && (!toml.benchmark.empty() || !toml.correctness.empty());
  const bool of_shape = listed && error.message.find("inputs of") == std::string::npos;
  const char* key = !of_shape ? "" : toml.benchmark.empty() ? ", correctness" : ", benchmark";
  error.message.erase(0, prefix.size());
  return std::move(error).context(toml_path + key);
}

}  // namespace

Status check_shape(const task::Task& task, const task::Dims& shape, const std::string& where) {
  for (const auto& [name, range] : task.dims) {
    const auto found = shape.find(name);
    if (found == shape.end())
      return input_error("{}: shape {} has no value for dim {}", where, task::dims_text(shape),
                         name);
    const int64_t value = found->second;
    if (!range.takes(value))
      return input_error("{}: {}={} is outside the dim's own range: {} … {}, multiples of {}",
                         where, name, value, range.low, range.high, range.multiple);
  }
  for (const auto& [name, value] : shape) {
    if (!task.dims.count(name))
      return input_error("{}: the task has no dim '{}' (in shape {})", where, name,
                         task::dims_text(shape));
  }
  auto traced = task.graph_at(shape);
  if (!traced)
    return std::move(traced).error().context(
        fmt::format("{}: at shape {}", where, task::dims_text(shape)));
  return Done{};
}

Result<task::Task> load_folder(const std::string& path, const LoadOptions& options) {
  const std::string folder = folder_of(path);
  const std::string toml_path = folder + "/task.toml";
  if (!os::exists(toml_path))
    return input_error(
        "{} has no task.toml, no func_forward.py, nor all of prompt.txt, reference.py, shapes.yaml "
        "and notes.md",
        folder);
  const std::string text = KW_TRY(os::read_inside(folder, "task.toml", kMaxTextBytes));
  const TaskToml toml = KW_TRY(parse_task_toml(text, toml_path));
  KW_TRY(check_bounds(toml, toml_path));
  Result<std::string> source = os::read_inside(folder, toml.reference, frontend::kMaxSourceBytes);
  if (!source) return std::move(source).error().context(toml_path + ", reference");
  Result<std::optional<std::string>> prompt =
      os::read_inside_if_there(folder, toml.prompt, kMaxTextBytes);
  if (!prompt) return std::move(prompt).error().context(toml_path + ", prompt");
  const bool whole = toml.reference.starts_with("/");
  const std::string reference = whole ? toml.reference : folder + "/" + toml.reference;
  LoadRequest request = request_of(toml, options);
  request.other_reader = options.other_reader;
  request.evaluation = options.evaluation;
  request.has_gpu = options.has_gpu;
  request.fixed_numbers = !toml.benchmark.empty() || !toml.correctness.empty();
  for (frontend::GivenInput& given : KW_TRY(parse_input_options(options.inputs))) {
    std::erase_if(request.inputs,
                  [&](const frontend::GivenInput& one) { return one.name == given.name; });
    request.inputs.push_back(std::move(given));
  }
  Result<task::Task> loaded = load_source(*source, reference, request);
  if (!loaded)
    return blamed(std::move(loaded).error(), toml, options, toml_path,
                  reference.substr(reference.rfind('/') + 1));
  task::Task task = std::move(loaded).value();
  task.format = "folder";
  task.name =
      os::without_controls(toml.name.empty() ? folder.substr(folder.rfind('/') + 1) : toml.name);
  task.prompt = std::move(prompt)->value_or("");
  apply_inputs(task, toml);
  KW_TRY(apply_shapes(task, toml, options, toml_path));
  const task::Precision from_file = task.precision;
  task.precision = toml.precision;
  if (!toml.allow_tf32_given) task.precision.allow_tf32 = from_file.allow_tf32;
  if (!task.precision.atol) task.precision.atol = from_file.atol;
  if (!task.precision.rtol) task.precision.rtol = from_file.rtol;
  if (!toml.backward) return task;
  const std::string name = task.name;
  task = KW_TRY(frontend::backward_task(task, {toml.gradients}));
  task.name = name;
  return task;
}

}  // namespace kw::task_formats
