// Statements at file level: constants, imports, definitions. A statement that the reference does
// not need must not make it fail. So a refused value is kept as the Error of its name, until the
// reference uses the name.
#include "frontend/python_tracer.h"

#include "frontend/functions.h"
#include "frontend/statements.h"

namespace kw::frontend {
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

Status run_module_statement(TraceState& trace, const Json& statement) {
  auto flow = run(trace, statement);
  if (flow) return Done{};
  if (trace.fatal) return std::move(flow).error();
  trace.is_located = false;
  for (const std::string& name : names_set_by(statement)) {
    trace.globals->names.erase(name);
    trace.failed_names.insert_or_assign(name, flow.error());
  }
  return Done{};
}

}  // namespace

Status PythonTracer::run_module() {
  for (const Json& statement : state_.source->tree["body"].items())
    KW_TRY(run_module_statement(state_, statement));
  return Done{};
}

Result<const Value*> PythonTracer::global(const std::string& name) {
  const auto found = state_.globals->names.find(name);
  if (found != state_.globals->names.end()) return &found->second;
  const auto failed = state_.failed_names.find(name);
  if (failed == state_.failed_names.end()) return nullptr;
  state_.is_located = true;
  return Error(failed->second);
}

Result<Value> PythonTracer::call(const Value& callee, const Arguments& arguments) {
  state_.is_located = false;
  state_.last_return = nullptr;
  auto result = invoke(state_, callee, arguments);
  if (!result && !state_.is_located) return std::move(result).error().context(state_.source->name);
  return result;
}

}  // namespace kw::frontend
