// Functions of the file, which def and lambda make, and calls with Python's rules for arguments. A
// function keeps its syntax tree and its scope, so closures and defaults work as in Python. Each
// call evaluates the body again: loops and calls become one flat graph. The alternative, a graph
// per function, would need shapes to be generic. The cost is a limit on depth (kMaxCallDepth) and
// on rows of a tensor in a loop (kMaxItems).
#include "frontend/functions.h"

#include <algorithm>

#include "core/text.h"
#include "frontend/builtins.h"
#include "frontend/classes.h"
#include "frontend/expressions.h"
#include "frontend/modules.h"
#include "frontend/names.h"
#include "frontend/numbers.h"
#include "frontend/refusals.h"
#include "frontend/statements.h"
#include "frontend/subscript.h"
#include "frontend/tensors.h"
#include "frontend/torch_library.h"

namespace kw::frontend {
namespace {

std::vector<std::string> positional_names(const Json& args) {
  std::vector<std::string> names;
  for (const Json& arg : args["posonlyargs"].items()) names.push_back(arg["arg"].as_string());
  for (const Json& arg : args["args"].items()) names.push_back(arg["arg"].as_string());
  return names;
}

Error missing_argument(const Function& function, const std::string& name) {
  return input_error("{}() missing required argument '{}'", function.name, name);
}

Status bind(const Function& function, Arguments& arguments, Scope& scope) {
  const Json& args = (*function.tree)["args"];
  std::vector<std::string> names = positional_names(args);
  const size_t positional = names.size();
  for (const Json& arg : args["kwonlyargs"].items()) names.push_back(arg["arg"].as_string());
  for (size_t i = 0; i < names.size(); ++i) {
    std::optional<Value> keyword = take_keyword(arguments, names[i]);
    const bool by_place = i < positional && i < arguments.positional.size();
    if (by_place && keyword)
      return input_error("{}() got multiple values for argument '{}'", function.name, names[i]);
    const auto fallback = function.defaults.find(names[i]);
    if (by_place)
      scope.names[names[i]] = arguments.positional[i];
    else if (keyword)
      scope.names[names[i]] = std::move(*keyword);
    else if (fallback != function.defaults.end())
      scope.names[names[i]] = fallback->second;
    else
      return missing_argument(function, names[i]);
  }
  const size_t given = arguments.positional.size();
  if (!args["vararg"].is_null()) {
    std::vector<Value> rest;
    for (size_t i = positional; i < given; ++i) rest.push_back(arguments.positional[i]);
    scope.names[args["vararg"]["arg"].as_string()] = make_tuple(std::move(rest));
  } else if (given > positional) {
    return input_error("{}() takes {} positional argument{} but {} {} given", function.name,
                       positional, positional == 1 ? "" : "s", given, given == 1 ? "was" : "were");
  }
  if (!args["kwarg"].is_null()) {
    auto dict = std::make_shared<Dict>();
    for (auto& [name, value] : arguments.keywords) dict->items.emplace_back(name, value);
    scope.names[args["kwarg"]["arg"].as_string()] = std::move(dict);
  } else if (!arguments.keywords.empty()) {
    const std::string& name = arguments.keywords.front().first;
    return input_error("{}() got an unexpected keyword argument '{}'{}", function.name, name,
                       did_you_mean(name, names));
  }
  return Done{};
}

}  // namespace

Result<Value> make_function(TraceState& trace, const Json& node, const std::string& name) {
  auto function = std::make_shared<Function>();
  function->name = name;
  function->tree = &node;
  function->library = trace.library();
  function->closure = trace.scope();
  const Json& args = node["args"];
  std::vector<std::string> names = positional_names(args);
  const Json::Array& defaults = args["defaults"].items();
  for (size_t i = 0; i < defaults.size() && i < names.size(); ++i)
    function->defaults[names[names.size() - defaults.size() + i]] =
        KW_TRY(eval(trace, defaults[i]));
  const Json::Array& only = args["kwonlyargs"].items();
  const Json::Array& only_defaults = args["kw_defaults"].items();
  for (size_t i = 0; i < only.size() && i < only_defaults.size(); ++i) {
    if (only_defaults[i].is_null()) continue;
    function->defaults[only[i]["arg"].as_string()] = KW_TRY(eval(trace, only_defaults[i]));
  }
  return Value(std::move(function));
}

namespace {

// @functools.wraps(function) says whose name and parameters this function has.
Result<bool> note_wrapped(TraceState& trace, const Json& decorator, const Value& value) {
  const auto* function = value.get<std::shared_ptr<Function>>();
  if (!function || decorator["_"].as_string() != "Call" || decorator["args"].items().empty())
    return false;
  const Value called = KW_TRY(eval(trace, decorator["func"]));
  const auto* library = called.get<Library>();
  if (!library || canonical(library->name) != "functools.wraps") return false;
  const Value given = KW_TRY(eval(trace, decorator["args"].items()[0]));
  if (const auto* wrapped = given.get<std::shared_ptr<Function>>()) {
    (*function)->wrapped = *wrapped;
    (*function)->name = (*wrapped)->name;
  }
  return true;
}

}  // namespace

Result<Value> decorate(TraceState& trace, const Json& statement, Value value) {
  const Json::Array& decorators = statement["decorator_list"].items();
  for (size_t i = decorators.size(); i-- > 0;) {
    if (KW_TRY(note_wrapped(trace, decorators[i], value))) continue;
    const Value decorator = KW_TRY(eval(trace, decorators[i]));
    auto decorated = invoke(trace, decorator, {{value}, {}});
    if (!decorated) return trace.located(decorators[i], std::move(decorated).error());
    value = std::move(decorated).value();
  }
  return value;
}

std::optional<Value> take_keyword(Arguments& arguments, std::string_view name) {
  for (auto one = arguments.keywords.begin(); one != arguments.keywords.end(); ++one) {
    if (one->first != name) continue;
    Value value = std::move(one->second);
    arguments.keywords.erase(one);
    return value;
  }
  return std::nullopt;
}

Result<Value> call_function(TraceState& trace, const Function& function, Arguments arguments,
                            const Value& self) {
  if (trace.frames.size() >= static_cast<size_t>(kMaxCallDepth)) {
    trace.fatal = true;
    return input_error("calls are nested more than {} deep: {}() calls itself without end?",
                       kMaxCallDepth, function.name);
  }
  Frame frame;
  frame.scope = std::make_shared<Scope>();
  frame.scope->outer = function.closure;
  frame.function = &function;
  frame.self = self;
  frame.library = function.library;
  trace.scopes.push_back(frame.scope);
  KW_TRY(bind(function, arguments, *frame.scope));
  const Json& body = (*function.tree)["body"];
  const bool outer = trace.no_gradient;
  if (function.gradient) trace.no_gradient = !*function.gradient;
  trace.frames.push_back(&frame);
  if (!body.is_array()) {
    auto value = eval(trace, body);
    trace.frames.pop_back();
    trace.no_gradient = outer;
    return value;
  }
  auto flow = run_all(trace, body);
  trace.frames.pop_back();
  trace.no_gradient = outer;
  if (!flow) return std::move(flow).error();
  return std::move(frame.returned);
}

Result<Value> eval_call(TraceState& trace, const Json& node) {
  const Json& func = node["func"];
  const Value callee = KW_TRY(eval(trace, func));
  Arguments arguments;
  arguments.positional = KW_TRY(eval_items(trace, node["args"]));
  for (const Json& keyword : node["keywords"].items()) {
    const Value value = KW_TRY(eval(trace, keyword["value"]));
    if (!keyword["arg"].is_null()) {
      arguments.keywords.emplace_back(keyword["arg"].as_string(), value);
      continue;
    }
    const auto* dict = value.get<std::shared_ptr<Dict>>();
    if (!dict) return input_error("the argument after ** must be a dict, not {}", type_name(value));
    for (const auto& [key, item] : (*dict)->items)
      arguments.keywords.emplace_back(to_text(key), item);
  }
  const std::string& kind = func["_"].as_string();
  const std::string name = kind == "Attribute" ? func["attr"].as_string()
                           : kind == "Name"    ? func["id"].as_string()
                                               : trace.shown(func);
  trace.mark(name, node);
  return invoke(trace, callee, std::move(arguments));
}

namespace {

Result<Value> call_method(TraceState& trace, const BoundMethod& method, Arguments arguments) {
  if (method.function) {
    arguments.positional.insert(arguments.positional.begin(), method.self);
    return call_function(trace, *method.function, std::move(arguments), method.self);
  }
  if (const auto* tensor = method.self.get<Tensor>())
    return call_tensor_method(trace, *tensor, method.name, std::move(arguments));
  if (const auto* object = method.self.get<std::shared_ptr<Object>>())
    return module_method(trace, *object, method.name, std::move(arguments));
  if (const auto* cls = method.self.get<std::shared_ptr<Class>>())
    return apply_autograd(trace, *cls, std::move(arguments));
  return call_container(trace, method, std::move(arguments));
}

}  // namespace

Result<Value> invoke(TraceState& trace, const Value& callee, Arguments arguments) {
  if (const auto* function = callee.get<std::shared_ptr<Function>>()) {
    const std::shared_ptr<Function> kept = *function;  // keeps it alive: it may rebind its own name
    const Value self = arguments.positional.empty() ? Value() : arguments.positional[0];
    return call_function(trace, *kept, std::move(arguments), self);
  }
  if (const auto* method = callee.get<std::shared_ptr<BoundMethod>>()) {
    const std::shared_ptr<BoundMethod> kept = *method;
    return call_method(trace, *kept, std::move(arguments));
  }
  if (const auto* cls = callee.get<std::shared_ptr<Class>>())
    return instantiate(trace, *cls, std::move(arguments));
  if (const auto* object = callee.get<std::shared_ptr<Object>>())
    return call_object(trace, *object, std::move(arguments));
  if (const auto* library = callee.get<Library>())
    return call_library(trace, canonical(library->name), std::move(arguments));
  return input_error("'{}' object is not callable", type_name(callee));
}

Result<std::vector<Value>> iterate(TraceState& trace, const Value& value) {
  if (const std::vector<Value>* items = items_of(value)) return *items;
  std::vector<Value> result;
  if (const auto* object = value.get<std::shared_ptr<Object>>()) {
    if (auto items = module_items(**object)) return std::move(*items);
    if ((*object)->holding == Holding::Keys) {
      for (const std::string& name : held_names(**object)) result.emplace_back(name);
      return result;
    }
  }
  if (const auto* dict = value.get<std::shared_ptr<Dict>>()) {
    for (const auto& [key, item] : (*dict)->items) result.push_back(key);
    return result;
  }
  if (const auto* text = value.get<std::string>()) {
    for (const char c : *text) result.emplace_back(std::string(1, c));
    return result;
  }
  const auto* tensor = value.get<Tensor>();
  if (!tensor) return input_error("'{}' object is not iterable", type_name(value));
  const graph::NodeId node = KW_TRY(node_of(trace, *tensor));
  if (trace.graph.rank(node) == 0) return input_error("iteration over a 0-d tensor");
  const int64_t count = concrete(trace.graph, trace.graph[node].shape[0]);
  if (count > kMaxItems)
    return input_error("a loop over {} rows is unrolled: use tensor operations", count);
  for (int64_t i = 0; i < count; ++i)
    result.push_back(KW_TRY(item_of(trace.graph, *tensor, graph::Dim(i))));
  return result;
}

}  // namespace kw::frontend
