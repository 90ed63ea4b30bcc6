// The problem: a reference that only torch can read still needs arguments, named dims and shapes.
// The choice: torch describes the parameters; each gets a value from the command line, an
// annotation, get_inputs(), a dim or its default. Exports with another value or a doubled dim tell
// which numbers follow which dim. The alternative, torch's own symbolic shapes, loses the user's
// names and fails on many models. The cost: several exports per task, each of up to two minutes.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/text.h"
#include "frontend/entry.h"
#include "frontend/make_task.h"
#include "frontend/names.h"
#include "reference/export_reference.h"
#include "torch_worker/torch_export.h"

namespace kw::reference {
namespace {

using frontend::TensorText;
using torch_worker::TorchProcess;

constexpr double kDescribeSeconds = 60;
// For a dim without a value. The more dims, the smaller, because tensors may have all of them.
int64_t assumed_extent(size_t dims) { return dims <= 2 ? 256 : dims == 3 ? 64 : 16; }

Json scalar_json(const task::ScalarSpec& spec) {
  if (spec.dtype == tensor::DType::Bool) return Json(spec.integer != 0);
  if (!tensor::is_float(spec.dtype)) return Json(spec.integer);
  if (spec.number - spec.number == 0) return Json(spec.number);
  return Json::object().set("float", spec.number != spec.number ? "nan"
                                     : spec.number > 0          ? "inf"
                                                                : "-inf");
}

/// A default as a scalar of the task; empty if it is not a number.
std::optional<task::ScalarSpec> default_of(const std::string& name, const Json& value) {
  if (value.is_bool()) return frontend::scalar_of(name, frontend::Value(value.as_bool()));
  if (value.is_int()) return frontend::scalar_of(name, frontend::Value(graph::Dim(value.as_int())));
  if (!value.is_number()) return std::nullopt;
  return frontend::scalar_of(name, frontend::Value(value.as_double()));
}

class Loader {
 public:
  Loader(const std::string& text, const std::string& path, const task_formats::LoadRequest& request,
         std::shared_ptr<TorchProcess> torch)
      : request_(request), said_(request.inputs), torch_(std::move(torch)) {
    entry_.source.path = path;
    entry_.source.text = text;
    entry_.source.entry = request.function;
    entry_.source.evaluation = request.evaluation;
    entry_.output_names = request.output_names;
  }

  Result<task::Task> run(const std::string& refused);

 private:
  Status describe();
  Status bind();
  Status bind_parameter(const Json& parameter);
  bool take_said(const std::string& name);
  Status take_described(const std::string& name, const Json& input);
  const Json* described(const std::string& name) const;
  Status take_rest();
  void settle_dims();
  std::string name_for(int64_t extent, const task::Dims& taken) const;
  void name_extents();
  void settle_inputs(task::Task& task) const;
  Status settle_weights(task::Task& task, const graph::Graph& graph) const;
  Result<task::Task> build();
  std::shared_ptr<ExportedReference> reference() const {
    return std::make_shared<ExportedReference>(entry_, torch_);
  }

  const task_formats::LoadRequest& request_;
  const std::vector<frontend::GivenInput>& said_;
  const std::shared_ptr<TorchProcess> torch_;
  std::set<std::string> used_;  // names of said_ that were used
  Json about_;                  // torch's description of the reference
  ExportEntry entry_;
  task::Dims dims_;
  std::vector<task::ScalarSpec> scalars_;
  std::vector<std::string> missing_, notes_;
};

Status Loader::describe() {
  for (const auto& [name, value] : request_.dims) entry_.source.globals.emplace_back(name, value);
  torch_worker::TorchAnswer answer =
      torch_worker::describe(*torch_, entry_.source, kDescribeSeconds);
  entry_.source.globals.clear();  // every call has its own globals
  if (!answer.ok()) return input_error(torch_worker::outcome_text(answer.outcome));
  about_ = answer.body;
  return Done{};
}

bool Loader::take_said(const std::string& name) {
  for (const frontend::GivenInput& given : said_) {
    if (given.name != name) continue;
    used_.insert(name);
    if (const auto* text = std::get_if<TensorText>(&given.value)) {
      entry_.arguments.push_back({name, *text});
    } else if (const auto* scalar = std::get_if<task::ScalarSpec>(&given.value)) {
      entry_.arguments.push_back({name, scalar_json(*scalar)});
      scalars_.push_back(*scalar);
    } else {
      entry_.arguments.push_back({name, Json()});
    }
    return true;
  }
  return false;
}

const Json* Loader::described(const std::string& name) const {
  for (const Json& input : about_["inputs"].items()) {
    if (input["name"].as_string() == name) return &input;
  }
  return nullptr;
}

Status Loader::take_described(const std::string& name, const Json& input) {
  if (input.contains("value")) {
    entry_.arguments.push_back({name, input["value"]});
    return Done{};
  }
  const auto dtype = tensor::dtype_from_name(input["dtype"].as_string());
  if (!dtype)
    return input_error("get_inputs() gives {} for '{}', which is not a tensor kernelwright knows",
                       input.contains("text") ? input["text"].as_string() : "a list or a dtype",
                       name);
  TensorText text;
  text.dtype = *dtype;
  for (const Json& extent : input["shape"].items())
    text.shape.push_back(fmt::format("{}", extent.as_int()));
  entry_.arguments.push_back({name, std::move(text)});
  return Done{};
}

/// In this order: the command line, an annotation, get_inputs(), a dim, the default.
Status Loader::bind_parameter(const Json& parameter) {
  const std::string& name = parameter["name"].as_string();
  const std::string& kind = parameter["kind"].as_string();
  if (kind == "var_positional" || kind == "var_keyword") return Done{};
  if (take_said(name)) return Done{};
  if (auto text = frontend::parse_tensor_text(parameter["annotation"].as_string())) {
    entry_.arguments.push_back({name, std::move(text).value()});
    return Done{};
  }
  if (const Json* input = described(name)) return take_described(name, *input);
  if (request_.dims.count(name) != 0) {
    entry_.arguments.push_back({name, DimValue{}});
  } else if (!parameter.contains("default")) {
    missing_.push_back(name);
  } else if (auto scalar = default_of(name, parameter["default"]["value"])) {
    scalars_.push_back(*scalar);  // a kernel module may take it too
  }
  return Done{};
}

/// Takes inputs beyond the parameters: of a builtin, or for *args.
Status Loader::take_rest() {
  const Json::Array& parameters = about_["parameters"].items();
  const bool any = about_["parameters"].is_null() ||
                   std::any_of(parameters.begin(), parameters.end(), [](const Json& one) {
                     return one["kind"].as_string().starts_with("var_");
                   });
  for (const frontend::GivenInput& given : said_) {
    if (used_.count(given.name) != 0) continue;
    if (!any) return input_error("the reference has no parameter '{}' (--input)", given.name);
    take_said(given.name);
  }
  if (!any || !said_.empty()) return Done{};
  const Json::Array& inputs = about_["inputs"].items();
  for (size_t i = entry_.arguments.size(); i < inputs.size(); ++i) {
    const std::string name = inputs[i]["name"].as_string();
    KW_TRY(take_described(frontend::is_dim_name(name) ? name : fmt::format("x{}", i), inputs[i]));
  }
  return Done{};
}

Status Loader::bind() {
  for (const Json& parameter : about_["parameters"].items()) KW_TRY(bind_parameter(parameter));
  KW_TRY(take_rest());
  const bool none = std::none_of(
      entry_.arguments.begin(), entry_.arguments.end(),
      [](const ExportArgument& one) { return std::holds_alternative<TensorText>(one.value); });
  if (missing_.empty() && none) missing_.emplace_back("x");
  if (missing_.empty()) return Done{};
  return input_error("shape and dtype of {} are not known; pass --input {}:fp32[B,D]",
                     join(missing_, ", "), missing_.front());
}

void Loader::settle_dims() {
  std::set<std::string> names;
  for (const ExportArgument& argument : entry_.arguments) {
    if (const auto* text = std::get_if<TensorText>(&argument.value)) {
      for (const std::string& extent : text->shape) names.merge(frontend::names_in(extent));
    }
    if (std::holds_alternative<DimValue>(argument.value)) names.insert(argument.name);
  }
  task::Dims assumed;
  for (const std::string& name : names) {
    const auto given = request_.dims.find(name);
    const Json& constant = about_["constants"][name];
    const auto other = static_cast<int64_t>(assumed.size());
    if (given != request_.dims.end()) {
      dims_[name] = given->second;
    } else if (constant.is_int()) {
      dims_[name] = constant.as_int();
    } else {
      assumed[name] = dims_[name] = assumed_extent(names.size()) << (other % 4);
    }
  }
  if (!assumed.empty())
    notes_.push_back("assumed " + task::dims_text(assumed) + "; pass --dims to choose");
}

/// The name of a constant of the file with this value, otherwise d0, d1, …
std::string Loader::name_for(int64_t extent, const task::Dims& taken) const {
  for (const auto& [name, value] : about_["constants"].members()) {
    if (value.is_int() && value.as_int() == extent && frontend::is_dim_name(name) &&
        taken.count(name) == 0)
      return name;
  }
  size_t number = taken.size();
  while (taken.count(fmt::format("d{}", number)) != 0) ++number;
  return fmt::format("d{}", number);
}

void replace_extent(ExportEntry& entry, const std::string& from, const std::string& to) {
  for (ExportArgument& argument : entry.arguments) {
    if (auto* text = std::get_if<TensorText>(&argument.value))
      std::replace(text->shape.begin(), text->shape.end(), from, to);
  }
}

/// Names extents written as numbers if the reference also exports with another value, so that other
/// shapes can be derived.
void Loader::name_extents() {
  std::set<int64_t> numbers;
  for (const ExportArgument& argument : entry_.arguments) {
    const auto* text = std::get_if<TensorText>(&argument.value);
    if (text == nullptr) continue;
    for (const std::string& extent : text->shape) {
      const auto value = parse_int(extent);
      if (value && *value >= 2) numbers.insert(*value);
    }
  }
  task::Dims named;
  for (const int64_t number : numbers) {
    const std::string name = name_for(number, dims_);
    const ExportEntry before = entry_;
    replace_extent(entry_, fmt::format("{}", number), name);
    task::Dims other = dims_;
    other[name] = 2 * number;
    if (!reference()->trace(other)) {
      entry_ = before;
      continue;
    }
    dims_[name] = named[name] = number;
  }
  if (!named.empty())
    notes_.push_back("extents written as numbers were named: " + task::dims_text(named));
}

/// The expression for an extent that was `at` and became `moved` when this dim was doubled; "" if
/// no simple one exists.
std::string extent_text(int64_t at, int64_t moved, const std::string& dim, int64_t value) {
  if (at == value && moved == 2 * value) return dim;
  if (at % value == 0 && moved == 2 * at) return fmt::format("{} * {}", at / value, dim);
  if (moved - at == value && at > value) return fmt::format("{} + {}", dim, at - value);
  if (moved - at == value) return fmt::format("{} - {}", dim, value - at);
  return "";
}

/// Restores the shapes and legal ranges that the user gave; torch has only numbers.
void Loader::settle_inputs(task::Task& task) const {
  for (task::TensorSpec& spec : task.inputs) {
    for (const ExportArgument& argument : entry_.arguments) {
      const auto* text = std::get_if<TensorText>(&argument.value);
      if (text == nullptr || frontend::identifier(argument.name) != spec.name) continue;
      spec.shape = text->shape;
      const task::Legal& said = text->legal;
      if (said.low || said.high || said.float_low || !said.below.empty()) spec.legal = said;
    }
  }
}

/// Weights have numbers as extents; exports with one dim doubled tell which dims they follow. If a
/// dim cannot be doubled, the weight keeps its number, and the reference refuses other shapes.
Status Loader::settle_weights(task::Task& task, const graph::Graph& graph) const {
  const bool any = std::any_of(task.inputs.begin(), task.inputs.end(),
                               [](const auto& spec) { return spec.role == task::Role::Weight; });
  for (const auto& [dim, value] : any ? dims_ : task::Dims()) {
    task::Dims other = dims_;
    other[dim] = 2 * value;
    const Result<graph::Graph> moved = reference()->trace(other);
    if (!moved || value <= 0) continue;
    if (moved->inputs.size() != graph.inputs.size() || task.inputs.size() != graph.inputs.size())
      return input_error("its weights change with its shapes");
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      task::TensorSpec& spec = task.inputs[i];
      const auto here = graph::values_of(graph[graph.inputs[i].node].shape);
      const auto there = graph::values_of((*moved)[moved->inputs[i].node].shape);
      if (spec.role != task::Role::Weight || here == there) continue;
      for (size_t axis = 0; axis < here.size() && here.size() == there.size(); ++axis) {
        if (here[axis] == there[axis]) continue;
        const bool free = parse_int(spec.shape[axis]).has_value();
        spec.shape[axis] = free ? extent_text(here[axis], there[axis], dim, value) : "";
        if (spec.shape[axis].empty())
          return input_error("weight '{}' follows the dims in no simple way", spec.name);
      }
    }
  }
  return Done{};
}

/// The smallest of a few shapes at which the reference still exports with the task's tensors.
task::Dims small_shape(const task::Task& task, const task::Dims& dims) {
  for (const int64_t largest : {64, 256}) {
    const task::Dims small = frontend::shrunk(dims, largest, true);
    if (task.graph_at(small)) return small;
  }
  return dims;
}

/// The task at dims_, with every shape as in the arguments.
Result<task::Task> Loader::build() {
  const auto read = reference();
  const graph::Graph graph = KW_TRY(read->trace(dims_));
  frontend::Exported exported = KW_TRY(read->exported(dims_));
  exported.name = frontend::stem_of(entry_.source.path);
  exported.scalars = scalars_;
  task::Task task = KW_TRY(frontend::task_from_export(std::move(exported)));
  // An argument that is only written is not an input.
  std::erase_if(task.inputs, [&](const task::TensorSpec& spec) {
    return std::none_of(graph.inputs.begin(), graph.inputs.end(),
                        [&](const auto& one) { return one.name == spec.name; });
  });
  settle_inputs(task);
  KW_TRY(settle_weights(task, graph));
  task.set_outputs(graph);
  task.dims.clear();
  for (const auto& [name, value] : dims_) task.dims[name] = {};
  task.benchmark_shapes = {dims_};
  task.reference = read;
  task.correctness_shapes = {small_shape(task, dims_)};
  return task;
}

Result<task::Task> Loader::run(const std::string& refused) {
  KW_TRY(describe());
  KW_TRY(bind());
  settle_dims();
  KW_TRY(reference()->trace(dims_));  // report the error of the given shape before trying others
  const ExportEntry plain = entry_;
  const task::Dims given = dims_;
  const std::vector<std::string> said = notes_;
  name_extents();
  Result<task::Task> task = build();
  if (!task && dims_ != given) {
    entry_ = plain;
    dims_ = given;
    notes_ = said;
    task = build();
  }
  if (!task) return task;
  task->notes.insert(task->notes.end(), notes_.begin(), notes_.end());
  task->notes.push_back("our own reader refused it: " + refused.substr(0, refused.find('\n')));
  return task;
}

}  // namespace

Result<task::Task> load_exported(const std::string& text, const std::string& path,
                                 const task_formats::LoadRequest& request,
                                 std::shared_ptr<TorchProcess> torch, const std::string& refused) {
  return Loader(text, path, request, std::move(torch)).run(refused);
}

}  // namespace kw::reference
