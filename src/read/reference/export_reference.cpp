#include "reference/export_reference.h"

#include <algorithm>
#include <set>

#include "binding/inputs.h"
#include "core/text.h"
#include "frontend/arrange.h"
#include "frontend/names.h"
#include "torch_worker/torch_export.h"

namespace kw::reference {
namespace {

using frontend::TensorText;
using tensor::HostTensor;
using torch_worker::TorchArgument;

constexpr double kExportSeconds = 120;  // limit for one export

bool has_name(const std::vector<graph::NamedNode>& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(), [&](const auto& one) { return one.name == name; });
}

/// Arguments that are only written are not inputs of the task.
graph::Graph without_write_only(graph::Graph graph) {
  const std::vector<bool> needed = frontend::needed_by_outputs(graph);
  std::vector<std::pair<graph::NodeId, std::string>> kept;
  for (const graph::NamedNode& input : graph.inputs) {
    const bool read = needed[static_cast<size_t>(input.node)];
    if (read || !has_name(graph.outputs, input.name)) kept.emplace_back(input.node, input.name);
  }
  return kept.size() == graph.inputs.size() ? graph : frontend::arrange(graph, kept);
}

/// An extent that is a single dim may stay symbolic; other extents follow from the call.
std::vector<torch_worker::TorchDim> symbolic_extents(const ExportEntry& entry) {
  std::vector<torch_worker::TorchDim> symbols;
  for (const ExportArgument& argument : entry.arguments) {
    const auto* text = std::get_if<TensorText>(&argument.value);
    if (text == nullptr) continue;
    for (size_t i = 0; i < text->shape.size(); ++i) {
      if (frontend::is_dim_name(text->shape[i]))
        symbols.push_back({argument.name, static_cast<int>(i), text->shape[i]});
    }
  }
  return symbols;
}

}  // namespace

Result<torch_worker::TorchCall> ExportedReference::call(
    const task::Dims& dims, const graph::Graph& graph,
    const std::vector<HostTensor>& inputs) const {
  torch_worker::TorchCall call;
  call.source = entry_.source;
  for (const auto& [name, value] : dims) call.source.globals.emplace_back(name, value);
  std::set<std::string> arguments;
  for (const ExportArgument& argument : entry_.arguments) {
    const std::string name = frontend::identifier(argument.name);
    arguments.insert(name);
    if (const auto* json = std::get_if<Json>(&argument.value)) {
      call.arguments.push_back({argument.name, nullptr, *json});
    } else if (const auto* text = std::get_if<TensorText>(&argument.value)) {
      const HostTensor* given = binding::input_named(graph, inputs, name);
      const graph::Shape shape = KW_TRY(frontend::shape_at(text->shape, dims));
      call.arguments.push_back(
          given != nullptr
              ? TorchArgument{argument.name, given, {}}
              : torch_worker::zeros_argument(argument.name, text->dtype, graph::values_of(shape)));
    } else {
      const auto value = dims.find(argument.name);
      if (value == dims.end()) return input_error("no value for dim " + argument.name);
      call.arguments.push_back({argument.name, nullptr, Json(value->second)});
    }
  }
  for (const graph::NamedNode& input : graph.inputs) {
    const HostTensor* given = binding::input_named(graph, inputs, input.name);
    if (arguments.count(input.name) == 0 && given != nullptr)
      call.weights.push_back({input.name, given, {}});
  }
  for (const ExportArgument& argument : entry_.arguments) {
    if (has_name(graph.outputs, frontend::identifier(argument.name)))
      call.written.push_back(argument.name);
  }
  call.written_only = !call.written.empty() && call.written.size() == graph.outputs.size();
  return call;
}

Result<frontend::Exported> ExportedReference::ask(const task::Dims& dims, bool symbolic) const {
  const torch_worker::TorchCall at = KW_TRY(call(dims, {}, {}));
  const std::vector<torch_worker::TorchDim> symbols =
      symbolic ? symbolic_extents(entry_) : std::vector<torch_worker::TorchDim>{};
  torch_worker::TorchAnswer answer =
      torch_worker::export_graph(*torch_, at, symbols, kExportSeconds);
  if (!answer.ok()) {
    const std::string where = dims.empty() ? "" : "\n  at " + task::dims_text(dims);
    return input_error(torch_worker::outcome_text(answer.outcome) + where);
  }
  frontend::Exported made;
  made.path = entry_.source.path;
  made.source = entry_.source.text;
  made.graph = answer.body["graph"];
  for (torch_worker::TorchTensor& constant : answer.outputs)
    made.constants[constant.name] = std::move(constant.tensor);
  return made;
}

Result<frontend::Exported> ExportedReference::exported(const task::Dims& dims) const {
  Result<frontend::Exported> made = ask(dims, true);
  // If torch renames a symbol or fails on it, export with numbers instead.
  if (made && frontend::import_aten(*made, dims)) return made;
  return ask(dims, false);
}

Result<graph::Graph> ExportedReference::import(const task::Dims& dims) const {
  const frontend::Exported made = KW_TRY(exported(dims));
  graph::Graph graph = without_write_only(KW_TRY(frontend::import_aten(made, dims)));
  const std::vector<std::string>& names = entry_.output_names;
  if (names.empty()) return graph;
  if (names.size() != graph.outputs.size())
    return input_error("the reference gives {} outputs, but the task names {}",
                       graph.outputs.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) graph.outputs[i].name = names[i];
  return graph;
}

Result<graph::Graph> ExportedReference::trace(const task::Dims& dims) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = graphs_.find(dims);
  if (known != graphs_.end()) return known->second;
  return graphs_.emplace(dims, import(dims)).first->second;
}

}  // namespace kw::reference
