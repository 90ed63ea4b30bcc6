// Statements at file level: constants, imports, definitions. A statement that the reference does
// not need must not make it fail. So a refused value is kept as the Error of its name, until the
// reference uses the name.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "frontend/names.h"
#include "frontend/python_tracer.h"

namespace kw::frontend {

PythonTracer::PythonTracer(std::shared_ptr<const Source> source, TraceSettings settings)
    : source_(std::move(source)),
      settings_(std::move(settings)),
      globals_(std::make_shared<Scope>()) {
  globals_->names["__name__"] = std::string("reference");
}

namespace {

void collect_names(const Json& target, std::vector<std::string>& names) {
  if (target["_"].as_string() == "Name") names.push_back(target["id"].as_string());
  for (const Json& one : target["elts"].items()) collect_names(one, names);
}

std::vector<std::string> names_set_by(const Json& statement) {
  std::vector<std::string> names;
  for (const Json& target : statement["targets"].items()) collect_names(target, names);
  collect_names(statement["target"], names);
  const std::string& kind = statement["_"].as_string();
  if (kind == "ClassDef" || kind == "FunctionDef") names.push_back(statement["name"].as_string());
  return names;
}

}  // namespace

Value PythonTracer::symbol_for(const std::string& name, const Value& value) {
  const auto* integer = value.get<graph::Dim>();
  // An int that is computed from other dims keeps its expression.
  if (!integer || !integer->is_constant() || !is_dim_name(name)) return value;
  const auto wanted = settings_.dims.find(name);
  if (wanted == settings_.dims.end() && !settings_.every_int) return value;
  const int64_t extent = wanted == settings_.dims.end() ? integer->value() : wanted->second;
  met_dims_[name] = extent;
  return graph::Dim::symbol(name, extent);
}

// N = 16 makes the dim N; B, D = 16, 32 makes B and D; shape = (16, 32) makes shape_0 and shape_1.
Value PythonTracer::named_dim(const Json& target, Value value) {
  if (!frames_.empty()) return value;
  const Json::Array& targets = target["elts"].items();
  const std::vector<Value>* given = targets.empty() ? nullptr : items_of(value);
  if (given && given->size() == targets.size()) {
    std::vector<Value> named;
    for (size_t i = 0; i < targets.size(); ++i) named.push_back(named_dim(targets[i], (*given)[i]));
    return make_tuple(std::move(named));
  }
  if (target["_"].as_string() != "Name") return value;
  const std::string& name = target["id"].as_string();
  const auto* tuple = value.get<std::shared_ptr<Tuple>>();
  if (!tuple) return symbol_for(name, value);
  std::vector<Value> items;
  for (size_t i = 0; i < (*tuple)->items.size(); ++i) {
    const Value& item = (*tuple)->items[i];
    // (channels, 1, 1) is a shape for broadcasting: its ones must stay 1.
    const auto* extent = item.get<graph::Dim>();
    const bool one = extent && extent->same_text(graph::Dim(1));
    items.push_back(one ? item : symbol_for(fmt::format("{}_{}", name, i), item));
  }
  return make_tuple(std::move(items));
}

Status PythonTracer::run_module_statement(const Json& statement) {
  auto flow = run(statement);
  if (flow) return Done{};
  if (fatal_) return std::move(flow).error();
  located_ = false;
  for (const std::string& name : names_set_by(statement)) {
    globals_->names.erase(name);
    failed_names_.insert_or_assign(name, flow.error());
  }
  return Done{};
}

Status PythonTracer::run_module() {
  for (const Json& statement : source_->tree["body"].items())
    KW_TRY(run_module_statement(statement));
  return Done{};
}

Result<const Value*> PythonTracer::global(const std::string& name) {
  const auto found = globals_->names.find(name);
  if (found != globals_->names.end()) return &found->second;
  const auto failed = failed_names_.find(name);
  if (failed == failed_names_.end()) return nullptr;
  located_ = true;
  return Error(failed->second);
}

Result<Value> PythonTracer::call(const Value& callee, const Arguments& arguments) {
  located_ = false;
  last_return_ = nullptr;
  auto result = invoke(callee, arguments);
  if (!result && !located_) return std::move(result).error().context(source_->name);
  return result;
}

}  // namespace kw::frontend
