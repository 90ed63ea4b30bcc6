// Runs statements of the reference. Python's parser gives the tree, and one handler per kind of
// statement runs it. Loops are unrolled and `if` takes one branch, because a graph has no control
// flow. The alternative, graph nodes for loops, would make every later step harder. The cost: a
// loop or condition must not depend on a tensor's value, and the number of steps is limited. An
// assignment to a part of a tensor, or `x += y`, writes through to every alias (cell.h).
#include <fmt/core.h>

#include <map>

#include "core/text.h"
#include "frontend/cell.h"
#include "frontend/index.h"
#include "frontend/names.h"
#include "frontend/numbers.h"
#include "frontend/python_tracer.h"
#include "frontend/refusals.h"

namespace kw::frontend {

Error PythonTracer::located(const Json& node, Error error) {
  if (located_ || in_library()) return error;
  located_ = true;
  Error result = error_at(*source_, node, error.message);
  result.blame = error.blame;
  return result;
}

Error PythonTracer::refuse(const Json& node, const std::string& message) {
  return located(node, input_error(message));
}

Result<PythonTracer::Flow> PythonTracer::run_all(const Json& statements) {
  for (const Json& statement : statements.items()) {
    const Flow flow = KW_TRY(run(statement));
    if (flow != Flow::Next) return flow;
  }
  return Flow::Next;
}

Result<PythonTracer::Flow> PythonTracer::run(const Json& statement) {
  using Handler = Result<Flow> (PythonTracer::*)(const Json&);
  static const std::map<std::string_view, Handler> kHandlers = {
      {"For", &PythonTracer::run_for},
      {"While", &PythonTracer::run_while},
      {"If", &PythonTracer::run_if},
      {"With", &PythonTracer::run_with},
      {"Try", &PythonTracer::run_try},
      {"Return", &PythonTracer::run_return},
      {"Assert", &PythonTracer::run_assert},
      {"Raise", &PythonTracer::run_raise},
      {"Assign", &PythonTracer::run_assign},
      {"AnnAssign", &PythonTracer::run_annotated},
      {"AugAssign", &PythonTracer::run_augmented},
      {"FunctionDef", &PythonTracer::run_function},
      {"ClassDef", &PythonTracer::run_class},
      {"Import", &PythonTracer::run_import},
      {"ImportFrom", &PythonTracer::run_import},
      {"Delete", &PythonTracer::run_delete},
      {"Global", &PythonTracer::run_scope},
      {"Nonlocal", &PythonTracer::run_scope},
  };
  const std::string& kind = statement["_"].as_string();
  if (++steps_ > kMaxSteps) {
    fatal_ = true;
    return refuse(statement, too_many_steps(kMaxSteps));
  }
  if (kind == "Pass") return Flow::Next;
  if (kind == "Break") return Flow::Break;
  if (kind == "Continue") return Flow::Continue;
  if (kind == "Expr") {
    KW_TRY(eval(statement["value"]));
    return Flow::Next;
  }
  const auto handler = kHandlers.find(kind);
  if (handler == kHandlers.end()) return refuse(statement, unsupported_syntax(kind));
  const Json* outer = at_;
  at_ = &statement;
  auto result = (this->*handler->second)(statement);
  at_ = outer;
  if (!result) return located(statement, std::move(result).error());
  return result;
}

Result<PythonTracer::Flow> PythonTracer::loop_body(const Json& statement, bool* broke) {
  const Flow flow = KW_TRY(run_all(statement["body"]));
  *broke = flow == Flow::Break;
  return flow == Flow::Return ? Flow::Return : Flow::Next;
}

Result<PythonTracer::Flow> PythonTracer::run_for(const Json& statement) {
  const Value range = KW_TRY(eval(statement["iter"]));
  const std::vector<Value> items = KW_TRY(iterate(range));
  for (const Value& item : items) {
    if (++steps_ > kMaxSteps) {
      fatal_ = true;
      return input_error(too_many_steps(kMaxSteps));
    }
    KW_TRY(assign(statement["target"], item));
    bool broke = false;
    if (KW_TRY(loop_body(statement, &broke)) == Flow::Return) return Flow::Return;
    if (broke) return Flow::Next;
  }
  return run_all(statement["orelse"]);
}

Result<PythonTracer::Flow> PythonTracer::run_while(const Json& statement) {
  for (;;) {
    if (++steps_ > kMaxSteps) {
      fatal_ = true;
      return input_error(too_many_steps(kMaxSteps));
    }
    const Value condition = KW_TRY(eval(statement["test"]));
    auto holds = truth_of(condition);
    if (!holds) return located(statement["test"], std::move(holds).error());
    if (!*holds) return run_all(statement["orelse"]);
    bool broke = false;
    if (KW_TRY(loop_body(statement, &broke)) == Flow::Return) return Flow::Return;
    if (broke) return Flow::Next;
  }
}

Result<PythonTracer::Flow> PythonTracer::run_if(const Json& statement) {
  const Value condition = KW_TRY(eval(statement["test"]));
  auto holds = truth_of(condition);
  if (!holds) return located(statement["test"], std::move(holds).error());
  return run_all(*holds ? statement["body"] : statement["orelse"]);
}

Result<PythonTracer::Flow> PythonTracer::run_with(const Json& statement) {
  const bool outer = no_gradient_;
  for (const Json& item : statement["items"].items()) {
    const Json& expression = item["context_expr"];
    const Value context = KW_TRY(eval(expression));
    const auto* library = context.get<Library>();
    const std::optional<bool> gradient = gradient_in(context);
    if (!gradient && (!library || library->name != kContext))
      return refuse(expression, fmt::format("'with {}' is not supported\n"
                                            "torch.no_grad() and its like are; {}",
                                            shown(expression), kWayOut));
    if (gradient) no_gradient_ = !*gradient;
    if (!item["optional_vars"].is_null()) KW_TRY(assign(item["optional_vars"], context));
  }
  auto flow = run_all(statement["body"]);
  no_gradient_ = outer;
  return flow;
}

// Only imports are allowed in a try body. They never fail here: their names are checked when used.
Result<PythonTracer::Flow> PythonTracer::run_try(const Json& statement) {
  for (const Json& one : statement["body"].items()) {
    if (!one["_"].as_string().starts_with("Import"))
      return refuse(statement, unsupported_syntax("Try"));
  }
  return run_all(statement["body"]);
}

Result<PythonTracer::Flow> PythonTracer::run_return(const Json& statement) {
  if (frames_.empty()) return input_error("'return' outside function");
  Value value;
  if (!statement["value"].is_null()) value = KW_TRY(eval(statement["value"]));
  frames_.back()->returned = std::move(value);
  if (frames_.size() == 1) last_return_ = &statement["value"];
  return Flow::Return;
}

Result<PythonTracer::Flow> PythonTracer::run_assert(const Json& statement) {
  const Value condition = KW_TRY(eval(statement["test"]));
  auto holds = truth_of(condition);
  if (!holds) return located(statement["test"], std::move(holds).error());
  if (*holds) return Flow::Next;
  fatal_ = true;
  std::string message = "the reference's assertion fails";
  if (!statement["msg"].is_null()) {
    const Value text = KW_TRY(eval(statement["msg"]));
    message += ": " + to_text(text);
  }
  return refuse(statement["test"], message);
}

Result<PythonTracer::Flow> PythonTracer::run_raise(const Json& statement) {
  fatal_ = true;
  const Json& exception = statement["exc"];
  std::string what = shown(exception["_"].as_string() == "Call" ? exception["func"] : exception);
  if (!exception["args"].items().empty()) {
    const Value message = KW_TRY(eval(exception["args"].items()[0]));
    if (in_library()) return input_error(to_text(message));
    what += ": " + to_text(message);
  }
  return input_error("the reference raises " + what);
}

void PythonTracer::set_name(const std::string& name, Value value) {
  if (frames_.empty()) {
    failed_names_.erase(name);
    globals_->names.insert_or_assign(name, std::move(value));
    return;
  }
  Frame& frame = *frames_.back();
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
Status PythonTracer::assign_names(const Json& target, const Value& value) {
  const std::vector<Value> items = KW_TRY(iterate(value));
  const Json::Array& names = target["elts"].items();
  size_t star = names.size();
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i]["_"].as_string() == "Starred") star = i;
  }
  const bool starred = star < names.size();
  const size_t fixed = names.size() - (starred ? 1 : 0);
  if (items.size() < fixed || (!starred && items.size() > fixed))
    return input_error(fmt::format("cannot unpack {} value{} into {}{} names", items.size(),
                                   items.size() == 1 ? "" : "s", starred ? "at least " : "",
                                   fixed));
  size_t next = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i != star) {
      KW_TRY(assign(names[i], items[next++]));
      continue;
    }
    const auto begin = items.begin() + static_cast<std::ptrdiff_t>(next);
    const auto count = static_cast<std::ptrdiff_t>(items.size() - fixed);
    KW_TRY(assign(names[i]["value"], make_list(std::vector<Value>(begin, begin + count))));
    next += items.size() - fixed;
  }
  return Done{};
}

Status PythonTracer::assign(const Json& target, const Value& value) {
  const std::string& kind = target["_"].as_string();
  if (kind == "Name") {
    set_name(target["id"].as_string(), value);
    return Done{};
  }
  if (kind == "Tuple" || kind == "List") {
    auto done = assign_names(target, value);
    return done ? std::move(done) : Status(located(target, std::move(done).error()));
  }
  if (kind == "Attribute") {
    const Value object = KW_TRY(eval(target["value"]));
    auto done = set_attribute(object, private_name(target["attr"].as_string()), value);
    return done ? std::move(done) : Status(located(target, std::move(done).error()));
  }
  if (kind != "Subscript") return refuse(target, "this cannot be assigned to");
  const Value container = KW_TRY(eval(target["value"]));
  const Value index = KW_TRY(eval(target["slice"]));
  Status done = Done{};
  if (const auto* tensor = container.get<Tensor>()) {
    mark(shown(target), target);
    if (!is_parameter(*tensor) || randomness_ != Randomness::Weight)
      done = assign_item(graph_, *tensor, index, value);
    else
      note_fill(*tensor, std::nullopt);
  } else if (const auto* object = container.get<std::shared_ptr<Object>>()) {
    done = assign_module_item(*object, index, value);
  } else {
    done = assign_container_item(container, index, value);
  }
  return done ? std::move(done) : Status(located(target, std::move(done).error()));
}

Result<PythonTracer::Flow> PythonTracer::run_assign(const Json& statement) {
  Value value = KW_TRY(eval(statement["value"]));
  for (const Json& target : statement["targets"].items()) {
    value = named_dim(target, std::move(value));
    KW_TRY(assign(target, value));
  }
  return Flow::Next;
}

Result<PythonTracer::Flow> PythonTracer::run_annotated(const Json& statement) {
  const Json& target = statement["target"];
  if (!frames_.empty() && frames_.back()->scope->is_class) {
    Value& fields = frames_.back()->scope->names["__fields__"];
    if (fields.is_none()) fields = make_list({});
    (*fields.get<std::shared_ptr<List>>())->items.emplace_back(target["id"].as_string());
  }
  if (statement["value"].is_null()) return Flow::Next;
  const Value value = KW_TRY(eval(statement["value"]));
  KW_TRY(assign(target, named_dim(target, value)));
  return Flow::Next;
}

// x[mask] *= 2 changes the elements under the mask. The shape of x[mask] itself depends on values,
// so it is never computed.
Result<std::optional<PythonTracer::Flow>> PythonTracer::augment_masked(const Json& statement) {
  const Json& target = statement["target"];
  if (target["_"].as_string() != "Subscript") return std::optional<Flow>();
  const Value container = KW_TRY(eval(target["value"]));
  const auto* tensor = container.get<Tensor>();
  if (!tensor) return std::optional<Flow>();
  const Value index = KW_TRY(eval(target["slice"]));
  const auto* mask = index.get<Tensor>();
  if (!mask || graph_[KW_TRY(node_of(*mask))].dtype != tensor::DType::Bool)
    return std::optional<Flow>();
  const Value by = KW_TRY(eval(statement["value"]));
  const bool single =
      as_number(by) || (by.get<Tensor>() && graph_.rank(KW_TRY(node_of(*by.get<Tensor>()))) == 0);
  if (!single)
    return refuse(statement, fmt::format("the shape of {} depends on values\ntorch.where(mask, x + "
                                         "y, x) keeps the shape, {}",
                                         shown(target), kWayOut));
  mark(shown(statement), statement);
  const Value changed = KW_TRY(binary(statement["op"].as_string(), container, by));
  Value where = index;
  const graph::NodeId masked = KW_TRY(node_of(*mask));
  const graph::NodeId whole = KW_TRY(node_of(*tensor));
  if (graph_.rank(masked) < graph_.rank(whole)) {
    graph::Shape shape = graph_[masked].shape;
    shape.resize(static_cast<size_t>(graph_.rank(whole)), graph::Dim(1));
    where = Value(new_tensor(KW_TRY(graph_.reshape(masked, std::move(shape)))));
  }
  const Value chosen = KW_TRY(call_row("torch.where", {{where, changed, container}, {}}));
  const graph::NodeId node = KW_TRY(node_of(*chosen.get<Tensor>()));
  KW_TRY(store(*tensor, node, false));
  return std::optional(Flow::Next);
}

// For tensors and lists, `a += b` also changes what other names of `a` see.
Result<PythonTracer::Flow> PythonTracer::run_augmented(const Json& statement) {
  const Json& target = statement["target"];
  const std::string& op = statement["op"].as_string();
  if (const auto done = KW_TRY(augment_masked(statement))) return *done;
  const Value before = KW_TRY(eval(target));
  const Value by = KW_TRY(eval(statement["value"]));
  mark(shown(statement), statement);
  const Value result = KW_TRY(binary(op, before, by));
  const auto* tensor = before.get<Tensor>();
  if (tensor && tensor->cell && result.get<Tensor>() && op != "MatMult") {
    const graph::NodeId node = KW_TRY(node_of(*result.get<Tensor>()));
    KW_TRY(store(*tensor, node, false));
    // x[index] += v: the index tensor gave a copy, which must be written back.
    const bool copy = target["_"].as_string() == "Subscript" && !tensor->cell->base;
    if (copy) KW_TRY(assign(target, Value(*tensor)));
    return Flow::Next;
  }
  const auto* list = before.get<std::shared_ptr<List>>();
  if (list && items_of(result)) {
    (*list)->items = std::vector<Value>(*items_of(result));
    return Flow::Next;
  }
  KW_TRY(assign(target, result));
  return Flow::Next;
}

Result<PythonTracer::Flow> PythonTracer::run_function(const Json& statement) {
  const std::string& name = statement["name"].as_string();
  Value function = KW_TRY(make_function(statement, name));
  set_name(name, KW_TRY(decorate(statement, std::move(function))));
  return Flow::Next;
}

Result<PythonTracer::Flow> PythonTracer::run_class(const Json& statement) {
  Value cls = KW_TRY(make_class(statement));
  set_name(statement["name"].as_string(), KW_TRY(decorate(statement, std::move(cls))));
  return Flow::Next;
}

Result<PythonTracer::Flow> PythonTracer::run_import(const Json& statement) {
  const std::string module = statement["module"].as_string();
  const bool from = statement["_"].as_string() == "ImportFrom";
  for (const Json& alias : statement["names"].items()) {
    const std::string& name = alias["name"].as_string();
    const std::string& as = alias["asname"].as_string();
    if (name == "*") {
      globals_->names["*"] = Library{module};
    } else if (from) {
      const std::string whole = module + "." + name;
      set_name(as.empty() ? name : as, library_constant(whole).value_or(Library{whole}));
    } else {
      // `import torch.nn.functional` binds only the name torch.
      set_name(as.empty() ? name.substr(0, name.find('.')) : as,
               Library{as.empty() ? name.substr(0, name.find('.')) : name});
    }
  }
  return Flow::Next;
}

Result<PythonTracer::Flow> PythonTracer::run_delete(const Json& statement) {
  for (const Json& target : statement["targets"].items()) {
    if (target["_"].as_string() == "Subscript") {
      const Value container = KW_TRY(eval(target["value"]));
      const Value index = KW_TRY(eval(target["slice"]));
      auto done = delete_container_item(container, index);
      if (!done) return located(target, std::move(done).error());
      continue;
    }
    if (target["_"].as_string() != "Name")
      return refuse(target, "only names and items can be deleted");
    Scope& scope = frames_.empty() ? *globals_ : *frames_.back()->scope;
    if (!scope.names.erase(target["id"].as_string()))
      return refuse(target, fmt::format("name '{}' is not defined", target["id"].as_string()));
  }
  return Flow::Next;
}

Result<PythonTracer::Flow> PythonTracer::run_scope(const Json& statement) {
  if (frames_.empty()) return Flow::Next;
  for (const Json& name : statement["names"].items())
    frames_.back()->outside.insert(name.as_string());
  return Flow::Next;
}

}  // namespace kw::frontend
