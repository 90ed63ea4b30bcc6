// torch.export runs the reference in PyTorch and gives an ATen graph as JSON. We import that graph
// with the op rows that serve Python, found by find_aten. A second table for ATen would be simpler
// to read here but would repeat each formula. Each row's result must have the shape and dtype that
// PyTorch recorded, so a misread operator is an Error. The cost: dims that torch.export fixed keep
// one value, and a constant becomes one node per element.
#include "frontend/aten.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/text.h"
#include "frontend/arrange.h"
#include "frontend/call.h"
#include "frontend/cell.h"
#include "frontend/legal.h"
#include "frontend/library_rows.h"
#include "frontend/make_task.h"
#include "frontend/names.h"
#include "frontend/python_tracer.h"
#include "frontend/refusals.h"
#include "frontend/spec_text.h"
#include "graph/derive.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;
using graph::Op;

constexpr const char* kFormat = "kernelwright-aten-1";
/// A constant becomes one node per element, so large ones are refused.
constexpr int64_t kMaxConstant = 4096;

struct InputNode {
  std::string name;  // identifier
  std::string kind;  // "input", "parameter", "buffer"
  NodeId node = -1;
};

class Importer {
 public:
  Importer(const Exported& exported, const task::Dims& dims) : exported_(exported), dims_(dims) {
    for (const auto& [name, value] : exported.graph["dims"].members())
      dims_.emplace(name, value.as_int());
  }

  Result<graph::Graph> run();

 private:
  Result<Dim> extent_of(const Json& extent) const;
  Result<graph::Shape> shape_of(const Json& shape) const;
  Status add_input(const Json& input);
  Result<NodeId> constant(const tensor::HostTensor& value);
  Status add_node(const Json& node);
  Status check_results(const Json& node, const Value& value) const;
  Result<Value> argument(const Json& json, int depth);
  Result<Value> reference(const Json& json) const;
  std::string unique(const std::string& path);
  Result<std::vector<graph::NamedNode>> outputs();

  const Exported& exported_;
  task::Dims dims_;
  TraceState trace_{std::make_shared<Source>(), {}};
  graph::Builder& graph_ = trace_.graph;
  std::map<std::string, Value> values_;
  std::vector<InputNode> inputs_;
  std::set<std::string> names_;
};

Result<Dim> Importer::extent_of(const Json& json) const {
  if (json.is_int()) return Dim(json.as_int());
  return extent(json["dim"].as_string(), dims_);
}

Result<graph::Shape> Importer::shape_of(const Json& json) const {
  graph::Shape shape;
  for (const Json& one : json.items()) shape.push_back(KW_TRY(extent_of(one)));
  return shape;
}

std::string Importer::unique(const std::string& path) {
  std::string name = identifier(path);
  for (int i = 1; !names_.insert(name).second || !is_dim_name(name); ++i)
    name = fmt::format("{}_{}", identifier(path), i);
  return name;
}

Result<NodeId> Importer::constant(const tensor::HostTensor& value) {
  const int64_t count = KW_TRY(tensor::element_count(value.shape));
  if (count > kMaxConstant)
    return input_error(
        "a constant of {} elements is too large to be part of a graph (at most {}); make it a "
        "buffer or an input",
        count, kMaxConstant);
  const bool floats = tensor::is_float(value.dtype);
  std::vector<NodeId> elements;
  for (int64_t i = 0; i < count; ++i) {
    const double element = tensor::get_element(value, i);
    const NodeId one = floats ? graph_.constant(value.dtype, element)
                              : graph_.constant_int(value.dtype, static_cast<int64_t>(element));
    if (value.shape.empty()) return one;
    elements.push_back(KW_TRY(graph_.reshape(one, {Dim(1)})));
  }
  graph::Shape shape(value.shape.begin(), value.shape.end());
  if (elements.empty()) {
    const NodeId zero = graph_.constant_int(value.dtype, 0);
    graph::Shape ones(shape.size(), Dim(1));
    return graph_.expand(KW_TRY(graph_.reshape(zero, ones)), shape);
  }
  graph::Node joined;
  joined.op = Op::Concat;
  joined.inputs = elements;
  joined.attrs.dims = {0};
  const NodeId flat = elements.size() == 1 ? elements[0] : KW_TRY(graph_.add(std::move(joined)));
  return graph_.reshape(flat, shape);
}

Status Importer::add_input(const Json& input) {
  const std::string& node = input["node"].as_string();
  const std::string& kind = input["kind"].as_string();
  const std::string& name = input["name"].as_string();
  if (kind == "constant") {
    const auto value = exported_.constants.find(name);
    if (value == exported_.constants.end())
      return input_error("the export has no value for constant '{}'", name);
    values_[node] = Value(Tensor(KW_TRY(constant(value->second))));
    return Done{};
  }
  const auto dtype = tensor::dtype_from_name(input["dtype"].as_string());
  if (!dtype) return input_error("input '{}' has dtype '{}'", name, input["dtype"].as_string());
  InputNode added{unique(name), kind, -1};
  graph_.at(added.name, 0, 0);
  added.node = graph_.input(added.name, *dtype, KW_TRY(shape_of(input["shape"])));
  values_[node] = Value(Tensor(added.node));
  inputs_.push_back(std::move(added));
  return Done{};
}

Result<Value> Importer::reference(const Json& json) const {
  const auto found = values_.find(json["node"].as_string());
  if (found == values_.end())
    return input_error("the export uses '{}' before it is computed", json["node"].as_string());
  if (!json.contains("index")) return found->second;
  const std::vector<Value>* items = items_of(found->second);
  const auto index = static_cast<size_t>(json["index"].as_int());
  if (!items && index == 0) return found->second;
  if (!items || index >= items->size())
    return input_error("'{}' has no result {}", json["node"].as_string(), index);
  return (*items)[index];
}

Result<Value> Importer::argument(const Json& json, int depth) {
  if (depth > kMaxNesting) return input_error("containers are nested too deeply");
  if (json.is_null()) return Value();
  if (json.is_bool()) return Value(json.as_bool());
  if (json.is_int()) return Value(Dim(json.as_int()));
  if (json.is_number()) return Value(json.as_double());
  if (json.is_string()) return Value(json.as_string());
  if (json.is_array()) {
    std::vector<Value> items;
    for (const Json& one : json.items()) items.push_back(KW_TRY(argument(one, depth + 1)));
    return make_list(std::move(items));
  }
  if (json.contains("node")) return reference(json);
  if (json.contains("dim")) {
    auto dim = extent_of(json);
    if (dim) return Value(*dim);
    // Some expressions, such as a root of an extent, have no form here. Such a value is known only
    // at the exported dims.
    const bool as_exported = std::all_of(dims_.begin(), dims_.end(), [&](const auto& one) {
      return exported_.graph["dims"][one.first].as_int(one.second) == one.second;
    });
    if (!as_exported || !json["value"].is_number()) return std::move(dim).error();
    return json["value"].is_int() ? Value(Dim(json["value"].as_int()))
                                  : Value(json["value"].as_double());
  }
  if (json.contains("float")) {
    const std::string& text = json["float"].as_string();
    return Value(text == "nan" ? static_cast<double>(NAN) : text == "-inf" ? -HUGE_VAL : HUGE_VAL);
  }
  if (json.contains("dtype")) {
    const auto dtype = tensor::dtype_from_name(json["dtype"].as_string());
    if (!dtype) return input_error("unknown dtype '{}'", json["dtype"].as_string());
    return Value(DTypeValue{*dtype});
  }
  return Value();  // device, layout, memory_format: they do not change values
}

/// A row must give the shape and dtype that PyTorch recorded; otherwise it misreads the operator.
Status Importer::check_results(const Json& node, const Value& value) const {
  const std::vector<Value> single = {value};
  const std::vector<Value>& all = items_of(value) ? *items_of(value) : single;
  const Json::Array& wanted = node["results"].items();
  for (size_t i = 0; i < all.size() && i < wanted.size(); ++i) {
    const auto* tensor = all[i].get<Tensor>();
    if (!tensor || !wanted[i].contains("dtype")) continue;
    const graph::Node& made = graph_[tensor->node];
    const graph::Shape shape = KW_TRY(shape_of(wanted[i]["shape"]));
    const bool same = values_of(made.shape) == values_of(shape) &&
                      tensor::dtype_name(made.dtype) == wanted[i]["dtype"].as_string();
    if (!same)
      return input_error("{} gives {}{} here, but {}{} in PyTorch", node["op"].as_string(),
                         tensor::dtype_name(made.dtype), shape_text(made.shape),
                         wanted[i]["dtype"].as_string(), shape_text(shape));
  }
  return Done{};
}

Status Importer::add_node(const Json& node) {
  const std::string& op = node["op"].as_string();
  const OpRow* row = find_aten(op);
  if (!row) return input_error("{} (line {}) is not supported", op, node["line"].as_int());
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keywords;
  for (const Json& one : node["args"].items()) positional.push_back(KW_TRY(argument(one, 0)));
  for (const auto& [name, one] : node["kwargs"].members())
    keywords.emplace_back(name, KW_TRY(argument(one, 0)));
  graph_.at(op, static_cast<int>(node["line"].as_int()), 1);
  Call call =
      KW_TRY(Call::bind(graph_, op, row->signature, std::move(positional), std::move(keywords)));
  Value value = KW_TRY(apply_row(trace_, *row, call));
  KW_TRY(check_results(node, value));
  values_[node["name"].as_string()] = std::move(value);
  return Done{};
}

Result<std::vector<graph::NamedNode>> Importer::outputs() {
  std::vector<graph::NamedNode> named;
  const Json::Array& results = exported_.graph["results"].items();
  for (const Json& result : results) {
    const bool mutation = result["kind"].as_string() == "mutation";
    const std::string target = identifier(result["target"].as_string());
    const bool of_input = std::any_of(inputs_.begin(), inputs_.end(), [&](const InputNode& one) {
      return one.name == target && one.kind == "input";
    });
    // Arguments written in place are outputs, behind the returned ones. Running statistics of a
    // model are not.
    if (mutation && !of_input) continue;
    const Value value = KW_TRY(argument(result["value"], 0));
    const auto* tensor = value.get<Tensor>();
    if (!tensor)
      return input_error("output '{}' is {}, not a tensor", result["name"].as_string(),
                         type_name(value));
    named.push_back({mutation ? target : unique(result["name"].as_string()), tensor->node});
  }
  if (named.empty()) return input_error("the reference returns no tensor");
  return named;
}

Result<graph::Graph> Importer::run() {
  const Json& json = exported_.graph;
  if (json["format"].as_string() != kFormat)
    return input_error("'{}' is not a format of an exported graph this version reads",
                       json["format"].as_string());
  for (const Json& input : json["inputs"].items()) KW_TRY(add_input(input));
  for (const Json& node : json["nodes"].items()) {
    auto added = add_node(node);
    if (!added)
      return std::move(added).error().context(
          fmt::format("importing {} (line {})", node["name"].as_string(), node["line"].as_int()));
  }
  std::vector<graph::NamedNode> named = KW_TRY(outputs());
  const graph::Graph raw = graph::without_marks(std::move(graph_).finish(std::move(named)));
  const std::vector<bool> needed = needed_by_outputs(raw);
  std::vector<std::pair<NodeId, std::string>> kept;
  for (const InputNode& input : inputs_) {
    if (input.kind == "input" || needed[static_cast<size_t>(input.node)])
      kept.emplace_back(input.node, input.name);
  }
  return arrange(raw, kept);
}

class ExportedReference : public task::Reference {
 public:
  explicit ExportedReference(Exported exported) : exported_(std::move(exported)) {}

  Result<graph::Graph> trace(const task::Dims& dims) const override {
    for (const auto& [name, value] : dims) {
      if (!exported_.graph["dims"].contains(name))
        return input_error("torch.export fixed dim {}: it has no other value", name);
    }
    return import_aten(exported_, dims);
  }

 private:
  Exported exported_;
};

task::TensorSpec spec_of(const Json& input, const graph::Graph& graph,
                         const graph::NamedNode& named) {
  task::TensorSpec spec;
  spec.name = named.name;
  spec.dtype = graph[named.node].dtype;
  for (const Dim& one : graph[named.node].shape) spec.shape.push_back(one.text());
  spec.role = input["kind"].as_string() == "input" ? task::Role::Input : task::Role::Weight;
  spec.legal.positive = input["name"].as_string().ends_with("running_var");
  keep_in_domain(spec.legal, graph, named.node);
  spec.written = std::any_of(graph.outputs.begin(), graph.outputs.end(),
                             [&](const auto& one) { return one.name == named.name; });
  return spec;
}

}  // namespace

Result<graph::Graph> import_aten(const Exported& exported, const task::Dims& dims) {
  return Importer(exported, dims).run();
}

Result<task::Task> task_from_export(Exported exported) {
  task::Dims dims;
  for (const auto& [name, value] : exported.graph["dims"].members()) dims[name] = value.as_int();
  const graph::Graph graph = KW_TRY(import_aten(exported, dims));
  task::Task task;
  task.name = exported.name;
  task.source_path = exported.path;
  task.source = exported.source;
  task.format = "export";
  task.scalars = exported.scalars;
  const std::map<std::string, Dim> below = index_bounds(graph);
  for (const graph::NamedNode& named : graph.inputs) {
    for (const Json& input : exported.graph["inputs"].items()) {
      if (identifier(input["name"].as_string()) == named.name)
        task.inputs.push_back(spec_of(input, graph, named));
    }
    const auto bound = below.find(named.name);
    if (bound == below.end() || task.inputs.empty()) continue;
    task.inputs.back().legal.low = 0;
    set_below(task.inputs.back().legal, bound->second);
  }
  if (task.inputs.size() != graph.inputs.size())
    return input_error("two inputs of the exported graph have the same name");
  task.set_outputs(graph);
  for (const auto& [name, value] : dims) task.dims[name] = {};
  for (const Json& note : exported.graph["notes"].items()) task.notes.push_back(note.as_string());
  std::vector<std::string> built_in;
  for (const task::ScalarSpec& spec : task.scalars)
    built_in.push_back(fmt::format("{}={}", spec.name, spec.value()));
  if (!built_in.empty())
    task.notes.push_back("compiled for " + join(built_in, ", ") +
                         ": torch.export takes numbers as constants");
  task.notes.push_back("read by torch.export of torch " + exported.graph["torch"].as_string());
  task.benchmark_shapes = {dims};
  task.correctness_shapes = {dims};
  const task::Dims small = shrunk(dims, 64, true);
  const auto traced = import_aten(exported, small);
  if (traced && task.difference(*traced).empty()) task.correctness_shapes = {small};
  task.reference = std::make_shared<ExportedReference>(std::move(exported));
  return task;
}

}  // namespace kw::frontend
