// Runs statements of the reference. Python's parser gives the tree, and one handler per kind of
// statement runs it. Loops are unrolled and `if` takes one branch, because a graph has no control
// flow. The alternative, graph nodes for loops, would make every later step harder. The cost: a
// loop or condition must not depend on a tensor's value, and the number of steps is limited. An
// assignment to a part of a tensor, or `x += y`, writes through to every alias (cell.h).
#include "frontend/statements.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "core/text.h"
#include "frontend/cell.h"
#include "frontend/classes.h"
#include "frontend/expressions.h"
#include "frontend/functions.h"
#include "frontend/modules.h"
#include "frontend/names.h"
#include "frontend/numbers.h"
#include "frontend/refusals.h"
#include "frontend/subscript.h"
#include "frontend/tensors.h"

namespace kw::frontend {

Result<Flow> run_all(TraceState& trace, const Json& statements) {
  for (const Json& statement : statements.items()) {
    const Flow flow = KW_TRY(run(trace, statement));
    if (flow != Flow::Next) return flow;
  }
  return Flow::Next;
}

namespace {

Result<Flow> loop_body(TraceState& trace, const Json& statement, bool* broke) {
  const Flow flow = KW_TRY(run_all(trace, statement["body"]));
  *broke = flow == Flow::Break;
  return flow == Flow::Return ? Flow::Return : Flow::Next;
}

Result<Flow> run_for(TraceState& trace, const Json& statement) {
  const Value range = KW_TRY(eval(trace, statement["iter"]));
  const std::vector<Value> items = KW_TRY(iterate(trace, range));
  for (const Value& item : items) {
    if (++trace.steps > kMaxSteps) {
      trace.fatal = true;
      return input_error(too_many_steps(kMaxSteps));
    }
    KW_TRY(assign(trace, statement["target"], item));
    bool broke = false;
    if (KW_TRY(loop_body(trace, statement, &broke)) == Flow::Return) return Flow::Return;
    if (broke) return Flow::Next;
  }
  return run_all(trace, statement["orelse"]);
}

Result<Flow> run_while(TraceState& trace, const Json& statement) {
  for (;;) {
    if (++trace.steps > kMaxSteps) {
      trace.fatal = true;
      return input_error(too_many_steps(kMaxSteps));
    }
    const Value condition = KW_TRY(eval(trace, statement["test"]));
    auto holds = truth_of(trace, condition);
    if (!holds) return trace.located(statement["test"], std::move(holds).error());
    if (!*holds) return run_all(trace, statement["orelse"]);
    bool broke = false;
    if (KW_TRY(loop_body(trace, statement, &broke)) == Flow::Return) return Flow::Return;
    if (broke) return Flow::Next;
  }
}

Result<Flow> run_if(TraceState& trace, const Json& statement) {
  const Value condition = KW_TRY(eval(trace, statement["test"]));
  auto holds = truth_of(trace, condition);
  if (!holds) return trace.located(statement["test"], std::move(holds).error());
  return run_all(trace, *holds ? statement["body"] : statement["orelse"]);
}

Result<Flow> run_with(TraceState& trace, const Json& statement) {
  const bool outer = trace.no_gradient;
  for (const Json& item : statement["items"].items()) {
    const Json& expression = item["context_expr"];
    const Value context = KW_TRY(eval(trace, expression));
    const auto* library = context.get<Library>();
    const std::optional<bool> gradient = gradient_in(context);
    if (!gradient && (!library || library->name != kContext))
      return trace.refuse(expression, fmt::format("'with {}' is not supported\n"
                                                  "torch.no_grad() and its like are; {}",
                                                  trace.shown(expression), kWayOut));
    if (gradient) trace.no_gradient = !*gradient;
    if (!item["optional_vars"].is_null()) KW_TRY(assign(trace, item["optional_vars"], context));
  }
  auto flow = run_all(trace, statement["body"]);
  trace.no_gradient = outer;
  return flow;
}

// Only imports are allowed in a try body. They never fail here: their names are checked when used.
Result<Flow> run_try(TraceState& trace, const Json& statement) {
  for (const Json& one : statement["body"].items()) {
    if (!one["_"].as_string().starts_with("Import"))
      return trace.refuse(statement, unsupported_syntax("Try"));
  }
  return run_all(trace, statement["body"]);
}

Result<Flow> run_return(TraceState& trace, const Json& statement) {
  if (trace.frames.empty()) return input_error("'return' outside function");
  Value value;
  if (!statement["value"].is_null()) value = KW_TRY(eval(trace, statement["value"]));
  trace.frames.back()->returned = std::move(value);
  if (trace.frames.size() == 1) trace.last_return = &statement["value"];
  return Flow::Return;
}

Result<Flow> run_assert(TraceState& trace, const Json& statement) {
  const Value condition = KW_TRY(eval(trace, statement["test"]));
  auto holds = truth_of(trace, condition);
  if (!holds) return trace.located(statement["test"], std::move(holds).error());
  if (*holds) return Flow::Next;
  trace.fatal = true;
  std::string message = "the reference's assertion fails";
  if (!statement["msg"].is_null()) {
    const Value text = KW_TRY(eval(trace, statement["msg"]));
    message += ": " + to_text(text);
  }
  return trace.refuse(statement["test"], message);
}

Result<Flow> run_raise(TraceState& trace, const Json& statement) {
  if (!trace.library()) trace.fatal = true;
  const Json& exception = statement["exc"];
  std::string what =
      trace.shown(exception["_"].as_string() == "Call" ? exception["func"] : exception);
  if (!exception["args"].items().empty()) {
    const Value message = KW_TRY(eval(trace, exception["args"].items()[0]));
    if (trace.library()) return input_error(to_text(message));
    what += ": " + to_text(message);
  }
  return input_error("the reference raises " + what);
}

void set_name(TraceState& trace, const std::string& name, Value value) {
  if (trace.frames.empty()) {
    trace.failed_names.erase(name);
    trace.globals->names.insert_or_assign(name, std::move(value));
    return;
  }
  Frame& frame = *trace.frames.back();
  if (frame.outside.count(name)) {
    for (Scope* scope = frame.scope->outer.get(); scope; scope = scope->outer.get()) {
      if (!scope->outer || scope->names.count(name)) {
        scope->names.insert_or_assign(name, std::move(value));
        return;
      }
    }
  }
  frame.scope->names.insert_or_assign(name, std::move(value));
}

// a, *b, (c, d) = value
Status assign_names(TraceState& trace, const Json& target, const Value& value) {
  const std::vector<Value> items = KW_TRY(iterate(trace, value));
  const Json::Array& names = target["elts"].items();
  size_t star = names.size();
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i]["_"].as_string() == "Starred") star = i;
  }
  const bool starred = star < names.size();
  const size_t fixed = names.size() - (starred ? 1 : 0);
  if (items.size() < fixed || (!starred && items.size() > fixed))
    return input_error("cannot unpack {} value{} into {}{} names", items.size(),
                       items.size() == 1 ? "" : "s", starred ? "at least " : "", fixed);
  size_t next = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i != star) {
      KW_TRY(assign(trace, names[i], items[next++]));
      continue;
    }
    const auto begin = items.begin() + static_cast<std::ptrdiff_t>(next);
    const auto count = static_cast<std::ptrdiff_t>(items.size() - fixed);
    KW_TRY(assign(trace, names[i]["value"], make_list(std::vector<Value>(begin, begin + count))));
    next += items.size() - fixed;
  }
  return Done{};
}

}  // namespace

Status assign(TraceState& trace, const Json& target, const Value& value) {
  const std::string& kind = target["_"].as_string();
  if (kind == "Name") {
    set_name(trace, target["id"].as_string(), value);
    return Done{};
  }
  if (kind == "Tuple" || kind == "List") {
    auto done = assign_names(trace, target, value);
    return done ? std::move(done) : Status(trace.located(target, std::move(done).error()));
  }
  if (kind == "Attribute") {
    const Value object = KW_TRY(eval(trace, target["value"]));
    auto done =
        set_attribute(trace, object, private_name(trace, target["attr"].as_string()), value);
    return done ? std::move(done) : Status(trace.located(target, std::move(done).error()));
  }
  if (kind != "Subscript") return trace.refuse(target, "this cannot be assigned to");
  const Value container = KW_TRY(eval(trace, target["value"]));
  const Value index = KW_TRY(eval(trace, target["slice"]));
  Status done = Done{};
  if (const auto* tensor = container.get<Tensor>()) {
    trace.mark(trace.shown(target), target);
    if (!is_parameter(trace, *tensor) || trace.randomness != Randomness::Weight)
      done = assign_item(trace.graph, *tensor, index, value);
    else
      note_fill(trace, *tensor, std::nullopt);
  } else if (const auto* object = container.get<std::shared_ptr<Object>>()) {
    done = assign_module_item(trace, *object, index, value);
  } else {
    done = assign_container_item(container, index, value);
  }
  return done ? std::move(done) : Status(trace.located(target, std::move(done).error()));
}

namespace {

Value symbol_for(TraceState& trace, const std::string& name, const Value& value) {
  const auto* integer = value.get<graph::Dim>();
  // An int that is computed from other dims keeps its expression.
  if (!integer || !integer->is_constant() || !is_dim_name(name)) return value;
  const auto wanted = trace.settings.dims.find(name);
  if (wanted == trace.settings.dims.end() && !trace.settings.every_int) return value;
  const int64_t extent = wanted == trace.settings.dims.end() ? integer->value() : wanted->second;
  trace.dims[name] = extent;
  return graph::Dim::symbol(name, extent);
}

// N = 16 makes the dim N; B, D = 16, 32 makes B and D; shape = (16, 32) makes shape_0 and shape_1.
Value named_dim(TraceState& trace, const Json& target, Value value) {
  if (!trace.frames.empty()) return value;
  const Json::Array& targets = target["elts"].items();
  const std::vector<Value>* given = targets.empty() ? nullptr : items_of(value);
  if (given && given->size() == targets.size()) {
    std::vector<Value> named;
    for (size_t i = 0; i < targets.size(); ++i)
      named.push_back(named_dim(trace, targets[i], (*given)[i]));
    return make_tuple(std::move(named));
  }
  if (target["_"].as_string() != "Name") return value;
  const std::string& name = target["id"].as_string();
  const auto* tuple = value.get<std::shared_ptr<Tuple>>();
  if (!tuple) return symbol_for(trace, name, value);
  std::vector<Value> items;
  for (size_t i = 0; i < (*tuple)->items.size(); ++i) {
    const Value& item = (*tuple)->items[i];
    // (channels, 1, 1) is a shape for broadcasting: its ones must stay 1.
    const auto* extent = item.get<graph::Dim>();
    const bool one = extent && extent->same_text(graph::Dim(1));
    items.push_back(one ? item : symbol_for(trace, fmt::format("{}_{}", name, i), item));
  }
  return make_tuple(std::move(items));
}

Result<bool> matches(TraceState& trace, const Json& pattern, const Value& subject);

Result<bool> matches_sequence(TraceState& trace, const Json::Array& patterns,
                              const Value& subject) {
  const std::vector<Value>* items = items_of(subject);
  if (!items || items->size() != patterns.size()) return false;
  const std::vector<Value> kept = *items;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!KW_TRY(matches(trace, patterns[i], kept[i]))) return false;
  }
  return true;
}

Result<bool> matches(TraceState& trace, const Json& pattern, const Value& subject) {
  const std::string& kind = pattern["_"].as_string();
  if (kind == "MatchValue") {
    const Value wanted = KW_TRY(eval(trace, pattern["value"]));
    if (subject.get<Tensor>()) return trace.refuse(pattern, value_decides("a tensor is matched"));
    return compare(trace.graph, "Eq", subject, wanted);
  }
  if (kind == "MatchSingleton") {
    const Json& wanted = pattern["value"];
    if (wanted.is_null()) return subject.is_none();
    const auto* flag = subject.get<bool>();
    return flag && *flag == wanted.as_bool();
  }
  if (kind == "MatchOr") {
    for (const Json& one : pattern["patterns"].items()) {
      if (KW_TRY(matches(trace, one, subject))) return true;
    }
    return false;
  }
  if (kind == "MatchAs") {
    const Json& inner = pattern["pattern"];
    if (!inner.is_null() && !KW_TRY(matches(trace, inner, subject))) return false;
    if (pattern["name"].is_string()) set_name(trace, pattern["name"].as_string(), subject);
    return true;
  }
  const Json::Array& parts = pattern["patterns"].items();
  const auto is_star = [](const Json& one) { return one["_"].as_string() == "MatchStar"; };
  if (kind == "MatchSequence" && std::ranges::none_of(parts, is_star))
    return matches_sequence(trace, parts, subject);
  return trace.refuse(pattern,
                      "this pattern is not supported\nvalues, '|', names, '_' and "
                      "sequences of them are");
}

Result<Flow> run_match(TraceState& trace, const Json& statement) {
  const Value subject = KW_TRY(eval(trace, statement["subject"]));
  for (const Json& one : statement["cases"].items()) {
    auto fits = matches(trace, one["pattern"], subject);
    if (!fits) return trace.located(one["pattern"], std::move(fits).error());
    if (!*fits) continue;
    if (!one["guard"].is_null()) {
      const Value guard = KW_TRY(eval(trace, one["guard"]));
      auto holds = truth_of(trace, guard);
      if (!holds) return trace.located(one["guard"], std::move(holds).error());
      if (!*holds) continue;
    }
    return run_all(trace, one["body"]);
  }
  return Flow::Next;
}

Result<Flow> run_assign(TraceState& trace, const Json& statement) {
  Value value = KW_TRY(eval(trace, statement["value"]));
  for (const Json& target : statement["targets"].items()) {
    value = named_dim(trace, target, std::move(value));
    KW_TRY(assign(trace, target, value));
  }
  return Flow::Next;
}

Result<Flow> run_annotated(TraceState& trace, const Json& statement) {
  const Json& target = statement["target"];
  if (!trace.frames.empty() && trace.frames.back()->scope->is_class) {
    Value& fields = trace.frames.back()->scope->names["__fields__"];
    if (fields.is_none()) fields = make_list({});
    (*fields.get<std::shared_ptr<List>>())->items.emplace_back(target["id"].as_string());
  }
  if (statement["value"].is_null()) return Flow::Next;
  const Value value = KW_TRY(eval(trace, statement["value"]));
  KW_TRY(assign(trace, target, named_dim(trace, target, value)));
  return Flow::Next;
}

// x[mask] *= 2 changes the elements under the mask. The shape of x[mask] itself depends on values,
// so it is never computed.
Result<std::optional<Flow>> augment_masked(TraceState& trace, const Json& statement) {
  const Json& target = statement["target"];
  if (target["_"].as_string() != "Subscript") return std::optional<Flow>();
  const Value container = KW_TRY(eval(trace, target["value"]));
  const auto* tensor = container.get<Tensor>();
  if (!tensor) return std::optional<Flow>();
  const Value index = KW_TRY(eval(trace, target["slice"]));
  const auto* mask = index.get<Tensor>();
  if (!mask || trace.graph[KW_TRY(node_of(trace, *mask))].dtype != tensor::DType::Bool)
    return std::optional<Flow>();
  const Value by = KW_TRY(eval(trace, statement["value"]));
  const bool single =
      is_number(by) ||
      (by.get<Tensor>() && trace.graph.rank(KW_TRY(node_of(trace, *by.get<Tensor>()))) == 0);
  if (!single)
    return trace.refuse(statement,
                        fmt::format("the shape of {} depends on values\ntorch.where(mask, x + "
                                    "y, x) keeps the shape, {}",
                                    trace.shown(target), kWayOut));
  trace.mark(trace.shown(statement), statement);
  const Value changed = KW_TRY(binary(trace, statement["op"].as_string(), container, by));
  Value where = index;
  const graph::NodeId masked = KW_TRY(node_of(trace, *mask));
  const graph::NodeId whole = KW_TRY(node_of(trace, *tensor));
  if (trace.graph.rank(masked) < trace.graph.rank(whole)) {
    graph::Shape shape = trace.graph[masked].shape;
    shape.resize(static_cast<size_t>(trace.graph.rank(whole)), graph::Dim(1));
    where = Value(new_tensor(KW_TRY(trace.graph.reshape(masked, std::move(shape)))));
  }
  const Value chosen = KW_TRY(call_row(trace, "torch.where", {{where, changed, container}, {}}));
  const graph::NodeId node = KW_TRY(node_of(trace, *chosen.get<Tensor>()));
  KW_TRY(store(trace, *tensor, node, false));
  return std::optional(Flow::Next);
}

// For tensors and lists, `a += b` also changes what other names of `a` see.
Result<Flow> run_augmented(TraceState& trace, const Json& statement) {
  const Json& target = statement["target"];
  const std::string& op = statement["op"].as_string();
  if (const auto done = KW_TRY(augment_masked(trace, statement))) return *done;
  const Value before = KW_TRY(eval(trace, target));
  const Value by = KW_TRY(eval(trace, statement["value"]));
  trace.mark(trace.shown(statement), statement);
  const Value result = KW_TRY(binary(trace, op, before, by));
  const auto* tensor = before.get<Tensor>();
  if (tensor && tensor->cell && result.get<Tensor>() && op != "MatMult") {
    const graph::NodeId node = KW_TRY(node_of(trace, *result.get<Tensor>()));
    KW_TRY(store(trace, *tensor, node, false));
    // x[index] += v: the index tensor gave a copy, which must be written back.
    const bool copy = target["_"].as_string() == "Subscript" && !tensor->cell->base;
    if (copy) KW_TRY(assign(trace, target, Value(*tensor)));
    return Flow::Next;
  }
  const auto* list = before.get<std::shared_ptr<List>>();
  if (list && items_of(result)) {
    (*list)->items = std::vector<Value>(*items_of(result));
    return Flow::Next;
  }
  KW_TRY(assign(trace, target, result));
  return Flow::Next;
}

Result<Flow> run_function(TraceState& trace, const Json& statement) {
  const std::string& name = statement["name"].as_string();
  Value function = KW_TRY(make_function(trace, statement, name));
  set_name(trace, name, KW_TRY(decorate(trace, statement, std::move(function))));
  return Flow::Next;
}

Result<Flow> run_class(TraceState& trace, const Json& statement) {
  Value cls = KW_TRY(make_class(trace, statement));
  set_name(trace, statement["name"].as_string(),
           KW_TRY(decorate(trace, statement, std::move(cls))));
  return Flow::Next;
}

Result<Flow> run_import(TraceState& trace, const Json& statement) {
  const std::string module = statement["module"].as_string();
  const bool from = statement["_"].as_string() == "ImportFrom";
  for (const Json& alias : statement["names"].items()) {
    const std::string& name = alias["name"].as_string();
    const std::string& as = alias["asname"].as_string();
    if (name == "*") {
      trace.globals->names["*"] = Library{module};
    } else if (from) {
      const std::string whole = module + "." + name;
      set_name(trace, as.empty() ? name : as, library_constant(whole).value_or(Library{whole}));
    } else {
      // `import torch.nn.functional` binds only the name torch.
      set_name(trace, as.empty() ? name.substr(0, name.find('.')) : as,
               Library{as.empty() ? name.substr(0, name.find('.')) : name});
    }
  }
  return Flow::Next;
}

Result<Flow> run_delete(TraceState& trace, const Json& statement) {
  for (const Json& target : statement["targets"].items()) {
    if (target["_"].as_string() == "Subscript") {
      const Value container = KW_TRY(eval(trace, target["value"]));
      const Value index = KW_TRY(eval(trace, target["slice"]));
      auto done = delete_container_item(container, index);
      if (!done) return trace.located(target, std::move(done).error());
      continue;
    }
    if (target["_"].as_string() != "Name")
      return trace.refuse(target, "only names and items can be deleted");
    Scope& scope = *trace.scope();
    if (!scope.names.erase(target["id"].as_string()))
      return trace.refuse(target,
                          fmt::format("name '{}' is not defined", target["id"].as_string()));
  }
  return Flow::Next;
}

Result<Flow> run_scope(TraceState& trace, const Json& statement) {
  if (trace.frames.empty()) return Flow::Next;
  for (const Json& name : statement["names"].items())
    trace.frames.back()->outside.insert(name.as_string());
  return Flow::Next;
}

}  // namespace

Result<Flow> run(TraceState& trace, const Json& statement) {
  using Handler = Result<Flow> (*)(TraceState&, const Json&);
  static const std::map<std::string_view, Handler> kHandlers = {
      {"For", run_for},
      {"While", run_while},
      {"If", run_if},
      {"Match", run_match},
      {"With", run_with},
      {"Try", run_try},
      {"Return", run_return},
      {"Assert", run_assert},
      {"Raise", run_raise},
      {"Assign", run_assign},
      {"AnnAssign", run_annotated},
      {"AugAssign", run_augmented},
      {"FunctionDef", run_function},
      {"ClassDef", run_class},
      {"Import", run_import},
      {"ImportFrom", run_import},
      {"Delete", run_delete},
      {"Global", run_scope},
      {"Nonlocal", run_scope},
  };
  const std::string& kind = statement["_"].as_string();
  if (++trace.steps > kMaxSteps) {
    trace.fatal = true;
    return trace.refuse(statement, too_many_steps(kMaxSteps));
  }
  if (kind == "Pass") return Flow::Next;
  if (kind == "Break") return Flow::Break;
  if (kind == "Continue") return Flow::Continue;
  if (kind == "Expr") {
    KW_TRY(eval(trace, statement["value"]));
    return Flow::Next;
  }
  const auto handler = kHandlers.find(kind);
  if (handler == kHandlers.end()) return trace.refuse(statement, unsupported_syntax(kind));
  auto result = handler->second(trace, statement);
  if (!result) return trace.located(statement, std::move(result).error());
  return result;
}

}  // namespace kw::frontend
