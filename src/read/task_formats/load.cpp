// References come in many conventions: annotated functions, KernelBench models with get_inputs(),
// functions without any description, kernels over flat buffers. Users should not have to name the
// convention, so it is recognised by what the file has: the tracer runs the file, the binder asks
// for each parameter in order (options, annotations, get_inputs(), flat buffers), and what is still
// unknown becomes a question. An explicit format option was the alternative. The cost: the order of
// these sources is a rule that users must be able to look up (docs/references.md).
#include "task_formats/load.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "frontend/binder.h"
#include "frontend/entry.h"
#include "frontend/make_task.h"
#include "frontend/numbers.h"
#include "os/file_error.h"
#include "os/files.h"
#include "task_formats/load_fixture.h"
#include "task_formats/load_folder.h"
#include "task_formats/load_optimizer.h"
#include "task_formats/load_rkb.h"
#include "task_formats/load_source.h"

namespace kw::task_formats {
namespace {

/// The expression that the file's last assignment gives to a name at file level; null for none.
const Json* assigned_to(const frontend::Source& source, const char* name) {
  const Json* value = nullptr;
  for (const Json& statement : source.tree["body"].items()) {
    const auto& targets = statement["targets"].items();
    const Json& target = targets.empty() ? statement["target"] : targets.front();
    if (target["id"].as_string() == name) value = &statement["value"];
  }
  return value;
}

Result<std::optional<double>> read_bound(frontend::PythonTracer& tracer, const char* name) {
  const frontend::Value* value = KW_TRY(tracer.global(name));
  if (!value || value->is_none()) return std::optional<double>();
  const std::optional<double> number = frontend::as_number(*value);
  if (number && std::isfinite(*number) && *number >= 0) return number;
  const frontend::Source& source = tracer.source();
  constexpr const char* kWant = "it must be a number of 0 or more";
  const Json* written = assigned_to(source, name);
  if (!written) return input_error("{}: {} is {}; {}", source.name, name, type_name(*value), kWant);
  return frontend::error_at(
      source, *written,
      fmt::format("{} is {}; {}", name, frontend::text_of(source, *written), kWant));
}

/// Module-level atol and rtol set an outer bound for the task.
Status read_bounds(frontend::PythonTracer& tracer, frontend::TaskDraft& draft) {
  draft.atol = KW_TRY(read_bound(tracer, "atol"));
  draft.rtol = KW_TRY(read_bound(tracer, "rtol"));
  return Done{};
}

bool annotated(const frontend::Found& found) {
  return std::any_of(found.parameters.begin(), found.parameters.end(),
                     [](const frontend::Parameter& one) {
                       return one.annotation.kind == frontend::Annotation::Kind::Tensor;
                     });
}

bool has_parameter(const frontend::Found& found, const std::string& name) {
  return std::any_of(found.parameters.begin(), found.parameters.end(),
                     [&](const frontend::Parameter& one) { return one.name == name; });
}

/// A parameter of a flat reference that is an int at file level is a dim, as if the user gave it.
void take_dims_of_file(const frontend::Found& found, frontend::TaskDraft& draft) {
  for (const frontend::Parameter& one : found.parameters) {
    const auto in_file = draft.file.find(one.name);
    if (in_file != draft.file.end() && !one.has_default) draft.given.insert(*in_file);
  }
}

/// In eval mode a parameter called `training` is False, unless the user says otherwise.
void said_evaluation(const frontend::Found& found, std::vector<frontend::GivenInput>& said,
                     std::vector<std::string>& notes) {
  notes.emplace_back("in eval mode (--mode eval)");
  const bool given =
      std::any_of(said.begin(), said.end(), [](const auto& one) { return one.name == "training"; });
  if (given || !has_parameter(found, "training")) return;
  task::ScalarSpec off;
  off.name = "training";
  off.dtype = tensor::DType::Bool;
  said.push_back({"training", off});
}

/// Whether the parameters of the convention of flat buffers are there: dims that are passed as
/// ints, or a launcher. Dims alone only give extents; they do not make a tensor flat.
bool counts_elements(const frontend::Found& found, const frontend::TaskDraft& draft,
                     const LoadRequest& request) {
  if (draft.given.empty()) return false;
  return !request.launcher.buffers.empty() ||
         std::any_of(draft.given.begin(), draft.given.end(),
                     [&](const auto& dim) { return has_parameter(found, dim.first); });
}

Result<task::Task> read_source(const std::string& text, const std::string& path,
                               const LoadRequest& request) {
  frontend::TaskDraft draft;
  draft.entry.source = KW_TRY(frontend::parse_python(text, path));
  draft.entry.output_names = request.output_names;
  draft.given = request.dims;
  draft.ranges = request.ranges;
  draft.fixed_numbers = request.fixed_numbers;
  draft.has_gpu = request.has_gpu;
  draft.entry.evaluation = request.evaluation;
  frontend::PythonTracer tracer(draft.entry.source, {request.dims, true, request.evaluation});
  tracer.set_randomness(frontend::Randomness::Weight);
  KW_TRY(tracer.run_module());
  draft.file = tracer.dims();
  const frontend::Found found = KW_TRY(frontend::find_entry(tracer, request.function));
  draft.entry.name = found.name;
  if (!found.why.empty())
    draft.notes.push_back(
        fmt::format("of several functions {}() is the reference: {}; {}:NAME "
                    "chooses another",
                    found.name, found.why, draft.entry.source->name));
  KW_TRY(read_bounds(tracer, draft));
  std::optional<std::vector<frontend::GivenInput>> from_file =
      KW_TRY(frontend::call_get_inputs(tracer));
  const bool asked = from_file.has_value();
  draft.format = found.is_model && asked ? "kernelbench" : "function";
  if (asked) draft.notes.emplace_back("shapes and dtypes from get_inputs()");
  const bool bare = !asked && !annotated(found) && !found.is_model;
  if (bare) take_dims_of_file(found, draft);
  std::vector<frontend::GivenInput> said = request.inputs;
  if (request.evaluation) said_evaluation(found, said, draft.notes);
  if (request.spare_inputs && !found.any_keyword && !found.any_positional)
    std::erase_if(said,
                  [&](const frontend::GivenInput& one) { return !has_parameter(found, one.name); });
  frontend::Binder binder(found, std::move(said), std::move(from_file), draft.entry.source->name);
  KW_TRY(binder.bind(draft));
  if (binder.unknown().empty()) {
    task::Task task = KW_TRY(frontend::make_task(std::move(draft)));
    if (!found.why.empty()) task.function = found.name;
    return task;
  }
  if (request.describe) {
    LoadRequest again = request;
    again.describe = {};
    for (const std::string& name : binder.unknown()) again.inputs.push_back(request.describe(name));
    return read_source(text, path, again);
  }
  if (bare) KW_TRY(check_numbers(draft, binder.unknown(), request.launcher));
  if (!bare || !counts_elements(found, draft, request)) return binder.ask();
  return load_flat(std::move(draft), binder.unknown(), request.launcher);
}

/// The Error with the name of the file, unless it has it.
Error named(Error error, const std::string& name) {
  const bool has = error.message.find(name) != std::string::npos;
  return has ? error : std::move(error).context(name);
}

}  // namespace

Result<std::vector<frontend::GivenInput>> parse_input_options(
    const std::vector<std::string>& texts) {
  std::vector<frontend::GivenInput> inputs;
  for (const std::string& text : texts)
    inputs.push_back(KW_TRY(frontend::parse_input_option(text)));
  return inputs;
}

Result<task::Task> load_source(const std::string& text, const std::string& path,
                               const LoadRequest& request) {
  Result<task::Task> read = read_source(text, path, request);
  if (!read) read = named(std::move(read).error(), path.substr(path.rfind('/') + 1));
  if (read || !request.other_reader) return read;
  return request.other_reader(text, path, request, std::move(read).error());
}

Result<task::Task> load_python(const std::string& text, const std::string& path,
                               const LoadOptions& options) {
  LoadRequest request;
  request.function = options.function;
  request.dims = options.dims;
  request.inputs = KW_TRY(parse_input_options(options.inputs));
  request.other_reader = options.other_reader;
  request.spare_inputs = options.spare_inputs;
  request.launcher = options.launcher;
  request.evaluation = options.evaluation;
  request.has_gpu = options.has_gpu;
  return load_source(text, path, request);
}

Result<task::Task> load_task(const std::string& path, const LoadOptions& options) {
  if (is_rkb(path)) return load_rkb(path, options);
  if (os::is_directory(path) || path.ends_with("/task.toml") || path == "task.toml")
    return is_fixture(path) ? load_fixture(path, options) : load_folder(path, options);
  if (!os::exists(path))
    return input_error("{}: no such file or folder", os::without_controls(path));
  if (!path.ends_with(".py"))
    return input_error("{} is not a task; give a .py file, or a folder with a task.toml", path);
  const std::string text = KW_TRY(os::read_file(path, frontend::kMaxSourceBytes));
  return load_python(text, path, options);
}

}  // namespace kw::task_formats
