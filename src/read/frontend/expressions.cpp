// Evaluates expressions of the reference. Python's own parser gives the tree, and one handler per
// kind of node computes a Value. Numbers are computed at once; an operation on a tensor calls an op
// row, which adds nodes. The alternative is to run Python with tracing tensors, as torch.fx does,
// which needs PyTorch. The cost: a condition on a tensor's value is refused, because both branches
// would be needed. Every node counts as a step, and depth is limited, so that an endless reference
// ends with an Error.
#include "frontend/expressions.h"

#include <cmath>
#include <map>

#include "core/text.h"
#include "frontend/classes.h"
#include "frontend/functions.h"
#include "frontend/modules.h"
#include "frontend/names.h"
#include "frontend/numbers.h"
#include "frontend/refusals.h"
#include "frontend/statements.h"
#include "frontend/subscript.h"
#include "frontend/tensors.h"
#include "frontend/text_format.h"

namespace kw::frontend {
namespace {

/// The deepest nesting of expressions and calls together: it keeps our own stack small.
constexpr int kMaxDepth = 600;

struct Deeper {
  explicit Deeper(int& depth) : depth_(depth) { ++depth_; }
  ~Deeper() { --depth_; }
  int& depth_;
};

Result<Value> eval_constant(TraceState&, const Json& node) {
  const std::string& type = node["type"].as_string();
  const Json& value = node["value"];
  if (type == "none") return Value(None{});
  if (type == "ellipsis") return Value(Ellipsis{});
  if (type == "bool") return Value(value.as_bool());
  if (type == "int") return Value(graph::Dim(value.as_int()));
  if (type == "str") return Value(value.as_string());
  if (type == "float") {
    if (value.is_number()) return Value(value.as_double());
    return Value(parse_double(value.as_string()).value_or(INFINITY));
  }
  if (type == "bigint") return input_error("an integer of the reference does not fit 64 bits");
  return input_error("'{}' constants are not supported", type);
}

Result<Value> eval_name(TraceState& trace, const Json& node) {
  const std::string& name = node["id"].as_string();
  const Scope& scope = *trace.scope();
  if (const Value* found = scope.find(name)) return *found;
  const auto failed = trace.failed_names.find(name);
  if (failed != trace.failed_names.end()) {
    trace.is_located = true;
    return Error(failed->second);
  }
  if (is_builtin(name)) return Value(Library{"builtins." + name});
  const auto star = trace.globals->names.find("*");
  if (star != trace.globals->names.end()) {
    const std::string whole = star->second.get<Library>()->name + "." + name;
    return library_constant(whole).value_or(Library{whole});
  }
  std::vector<std::string> known;
  for (const Scope* at = &scope; at; at = at->outer.get())
    for (const auto& [one, value] : at->names) known.push_back(one);
  return input_error("name '{}' is not defined{}", name, did_you_mean(name, known));
}

}  // namespace

Result<std::vector<Value>> eval_items(TraceState& trace, const Json& nodes) {
  std::vector<Value> items;
  for (const Json& node : nodes.items()) {
    if (node["_"].as_string() != "Starred") {
      items.push_back(KW_TRY(eval(trace, node)));
      continue;
    }
    const Value rest = KW_TRY(eval(trace, node["value"]));
    for (Value& item : KW_TRY(iterate(trace, rest))) items.push_back(std::move(item));
  }
  return items;
}

Result<Value> binary(TraceState& trace, std::string_view op, const Value& a, const Value& b) {
  if (!a.get<Tensor>() && !b.get<Tensor>()) return arithmetic(trace.graph, op, a, b);
  const char* row = operator_row(op);
  const bool usable = (a.get<Tensor>() || is_number(a)) && (b.get<Tensor>() || is_number(b));
  if (!row || !usable)
    return input_error("unsupported operand types for {}: '{}' and '{}'", operator_text(op),
                       type_name(a), type_name(b));
  return call_row(trace, row, {{a, b}, {}});
}

namespace {

Result<Value> eval_binary(TraceState& trace, const Json& node) {
  const Value a = KW_TRY(eval(trace, node["left"]));
  const Value b = KW_TRY(eval(trace, node["right"]));
  trace.mark(trace.shown(node), node);
  return binary(trace, node["op"].as_string(), a, b);
}

Result<Value> eval_unary(TraceState& trace, const Json& node) {
  const std::string& op = node["op"].as_string();
  const Value a = KW_TRY(eval(trace, node["operand"]));
  if (op == "Not") {
    const bool holds = KW_TRY(truth_of(trace, a));
    return Value(!holds);
  }
  if (!a.get<Tensor>()) return negate(op, a);
  trace.mark(trace.shown(node), node);
  if (op == "UAdd") return a;
  return call_row(trace, op == "USub" ? "torch.neg" : "torch.bitwise_not", {{a}, {}});
}

Result<Value> eval_bool_op(TraceState& trace, const Json& node) {
  const bool is_and = node["op"].as_string() == "And";
  Value value;
  const Json::Array& operands = node["values"].items();
  for (size_t i = 0; i < operands.size(); ++i) {
    value = KW_TRY(eval(trace, operands[i]));
    if (i + 1 == operands.size()) break;
    auto holds = truth_of(trace, value);
    if (!holds) return trace.located(operands[i], std::move(holds).error());
    if (*holds != is_and) break;
  }
  return value;
}

/// A library function asks whether a number is 0 or 1 to leave a step out, or to refuse it. Runtime
/// scalars that are neither take the general way at all their values: their kind does not change.
std::optional<bool> asked_of_kind(std::string_view op, const Value& a, const Value& b) {
  const auto* number = a.get<Float>();
  if (!number || !number->origin()) {
    static const std::map<std::string_view, std::string_view> kTurned = {
        {"Lt", "Gt"},   {"LtE", "GtE"}, {"Gt", "Lt"},
        {"GtE", "LtE"}, {"Eq", "Eq"},   {"NotEq", "NotEq"}};
    const auto* other = b.get<Float>();
    const auto turned = kTurned.find(op);
    if (!other || !other->origin() || turned == kTurned.end()) return std::nullopt;
    return asked_of_kind(turned->second, b, a);
  }
  const auto* other = b.get<Float>();
  if (!number->origin()->dims.empty() || !is_number(b) || (other && other->origin()))
    return std::nullopt;
  const double value = number->shown(), limit = *as_number(b);
  if ((limit != 0 && limit != 1) || value == limit) return std::nullopt;
  if (op == "Eq" || op == "NotEq") return op == "NotEq";
  if (limit == 1 && !(value > 0 && value < 1)) return std::nullopt;
  return op.starts_with("Lt") ? value < limit : value > limit;
}

Result<Value> compare_values(TraceState& trace, std::string_view op, const Value& a,
                             const Value& b) {
  if (trace.library()) {
    if (const auto known = asked_of_kind(op, a, b)) return Value(*known);
  }
  const bool tensors = a.get<Tensor>() || b.get<Tensor>();
  const char* row = tensors ? operator_row(op) : nullptr;
  if (row && (a.get<Tensor>() || is_number(a)) && (b.get<Tensor>() || is_number(b)))
    return call_row(trace, row, {{a, b}, {}});
  if (tensors && (op == "In" || op == "NotIn") && b.get<Tensor>())
    return input_error(value_decides("'in' looks into a tensor"));
  const auto* object = b.get<std::shared_ptr<Object>>();
  const bool among = object && (op == "In" || op == "NotIn");
  const Value other = among ? make_list(KW_TRY(iterate(trace, b))) : b;
  const bool result = KW_TRY(compare(trace.graph, op, a, other));
  return Value(result);
}

Result<Value> eval_compare(TraceState& trace, const Json& node) {
  Value left = KW_TRY(eval(trace, node["left"]));
  Value result = true;
  const Json::Array& right = node["comparators"].items();
  for (size_t i = 0; i < right.size(); ++i) {
    const Value other = KW_TRY(eval(trace, right[i]));
    trace.mark(trace.shown(node), node);
    result = KW_TRY(compare_values(trace, node["ops"].items()[i].as_string(), left, other));
    if (i + 1 == right.size()) break;
    const bool holds = KW_TRY(truth_of(trace, result));
    if (!holds) return Value(false);
    left = other;
  }
  return result;
}

}  // namespace

Result<bool> truth_of(TraceState& trace, const Value& value) {
  if (const auto* tensor = value.get<Tensor>()) {
    const graph::NodeId id = KW_TRY(node_of(trace, *tensor));
    const graph::Node& node = trace.graph[id];
    if (node.op == graph::Op::Constant && node.attrs.number_text.empty())
      return node.attrs.number != 0 || node.attrs.integer != 0;
    return input_error(value_decides("a tensor decides what runs"));
  }
  if (const auto* object = value.get<std::shared_ptr<Object>>()) {
    if ((*object)->holding != Holding::Nothing) return !held_names(**object).empty();
  }
  return truth(trace.graph, value);
}

namespace {

Result<Value> eval_choice(TraceState& trace, const Json& node) {
  const Value condition = KW_TRY(eval(trace, node["test"]));
  auto holds = truth_of(trace, condition);
  if (!holds) return trace.located(node["test"], std::move(holds).error());
  return eval(trace, *holds ? node["body"] : node["orelse"]);
}

Result<Value> eval_dict(TraceState& trace, const Json& node) {
  auto dict = std::make_shared<Dict>();
  const Json::Array& keys = node["keys"].items();
  for (size_t i = 0; i < keys.size(); ++i) {
    const Value value = KW_TRY(eval(trace, node["values"].items()[i]));
    if (keys[i].is_null()) {
      const auto* other = value.get<std::shared_ptr<Dict>>();
      if (!other) return input_error("'**' needs a dict, not {}", type_name(value));
      for (const auto& [key, item] : (*other)->items) set_item(*dict, key, item);
      continue;
    }
    set_item(*dict, KW_TRY(eval(trace, keys[i])), value);
  }
  return Value(std::move(dict));
}

Status comprehend(TraceState& trace, const Json& node, size_t level,
                  std::vector<std::pair<Value, Value>>& out) {
  const Json::Array& generators = node["generators"].items();
  if (level == generators.size()) {
    if (out.size() >= kMaxItems)
      return input_error("the list becomes longer than {} items", kMaxItems);
    const bool dict = node["_"].as_string() == "DictComp";
    Value key;
    if (dict) key = KW_TRY(eval(trace, node["key"]));
    out.emplace_back(std::move(key), KW_TRY(eval(trace, node[dict ? "value" : "elt"])));
    return Done{};
  }
  const Json& generator = generators[level];
  const Value range = KW_TRY(eval(trace, generator["iter"]));
  for (const Value& item : KW_TRY(iterate(trace, range))) {
    KW_TRY(assign(trace, generator["target"], item));
    bool wanted = true;
    for (const Json& condition : generator["ifs"].items()) {
      const Value value = KW_TRY(eval(trace, condition));
      wanted = wanted && KW_TRY(truth_of(trace, value));
    }
    if (wanted) KW_TRY(comprehend(trace, node, level + 1, out));
  }
  return Done{};
}

Result<Value> eval_comprehension(TraceState& trace, const Json& node) {
  Frame frame;
  frame.library = trace.library();
  frame.scope = std::make_shared<Scope>();
  frame.scope->outer = trace.scope();
  if (!trace.frames.empty()) {
    frame.function = trace.frames.back()->function;
    frame.self = trace.frames.back()->self;
  }
  std::vector<std::pair<Value, Value>> out;
  trace.frames.push_back(&frame);
  auto done = comprehend(trace, node, 0, out);
  trace.frames.pop_back();
  if (!done) return std::move(done).error();
  if (node["_"].as_string() == "DictComp") {
    auto dict = std::make_shared<Dict>();
    for (auto& [key, value] : out) set_item(*dict, key, value);
    return Value(std::move(dict));
  }
  std::vector<Value> items;
  for (auto& [key, value] : out) items.push_back(std::move(value));
  return make_list(std::move(items));
}

Result<Value> eval_lambda(TraceState& trace, const Json& node) {
  return make_function(trace, node, "<lambda>");
}

Result<Value> eval_text(TraceState& trace, const Json& node) {
  if (node["_"].as_string() == "FormattedValue") {
    const Value value = KW_TRY(eval(trace, node["value"]));
    const Value spec =
        node["format_spec"].is_null() ? Value("") : KW_TRY(eval(trace, node["format_spec"]));
    return Value(KW_TRY(formatted(value, to_text(spec))));
  }
  std::string text;
  for (const Json& piece : node["values"].items()) {
    const Value value = KW_TRY(eval(trace, piece));
    text += to_text(value);
    if (text.size() > kMaxText) return input_error("the string becomes too long");
  }
  return Value(std::move(text));
}

Result<Value> eval_walrus(TraceState& trace, const Json& node) {
  Value value = KW_TRY(eval(trace, node["value"]));
  KW_TRY(assign(trace, node["target"], value));
  return value;
}

Result<Value> eval_slice(TraceState& trace, const Json& node) {
  auto slice = std::make_shared<SliceValue>();
  if (!node["lower"].is_null()) slice->start = KW_TRY(eval(trace, node["lower"]));
  if (!node["upper"].is_null()) slice->stop = KW_TRY(eval(trace, node["upper"]));
  if (!node["step"].is_null()) slice->step = KW_TRY(eval(trace, node["step"]));
  return Value(std::move(slice));
}

Result<Value> eval_subscript(TraceState& trace, const Json& node) {
  const Value container = KW_TRY(eval(trace, node["value"]));
  const Value index = KW_TRY(eval(trace, node["slice"]));
  trace.mark(trace.shown(node), node);
  if (const auto* tensor = container.get<Tensor>()) return item_of(trace.graph, *tensor, index);
  if (const auto* object = container.get<std::shared_ptr<Object>>()) {
    if (auto items = module_items(**object)) {
      Value item = KW_TRY(container_item(trace.graph, make_list(std::move(*items)), index));
      const bool module = (*object)->cls->kind == ClassKind::Module;
      if (!module || !index.get<std::shared_ptr<SliceValue>>()) return item;
      return slice_module(trace, **object, item);
    }
    const auto* key = index.get<std::string>();
    const auto entry = key ? (*object)->attributes.find(*key) : (*object)->attributes.end();
    if (entry != (*object)->attributes.end()) return entry->second;  // nn.ModuleDict
    const Value* method = (*object)->cls->find("__getitem__");
    if (method) return invoke(trace, *method, {{container, index}, {}});
  }
  if (container.get<Library>() || container.get<std::shared_ptr<Class>>())
    return container;  // List[int], Float[Tensor, "b d"]: a trace ignores types
  return container_item(trace.graph, container, index);
}

Result<Value> eval_kind(TraceState& trace, const Json& node) {
  using Handler = Result<Value> (*)(TraceState&, const Json&);
  static const std::map<std::string_view, Handler> kHandlers = {
      {"Constant", eval_constant},
      {"Name", eval_name},
      {"BinOp", eval_binary},
      {"UnaryOp", eval_unary},
      {"BoolOp", eval_bool_op},
      {"Compare", eval_compare},
      {"IfExp", eval_choice},
      {"Dict", eval_dict},
      {"ListComp", eval_comprehension},
      {"GeneratorExp", eval_comprehension},
      {"SetComp", eval_comprehension},
      {"DictComp", eval_comprehension},
      {"Lambda", eval_lambda},
      {"JoinedStr", eval_text},
      {"FormattedValue", eval_text},
      {"NamedExpr", eval_walrus},
      {"Slice", eval_slice},
      {"Subscript", eval_subscript},
      {"Call", eval_call},
  };
  const std::string& kind = node["_"].as_string();
  if (const auto handler = kHandlers.find(kind); handler != kHandlers.end())
    return handler->second(trace, node);
  if (kind == "Tuple") return make_tuple(KW_TRY(eval_items(trace, node["elts"])));
  if (kind == "List" || kind == "Set") return make_list(KW_TRY(eval_items(trace, node["elts"])));
  if (kind != "Attribute") return input_error(unsupported_syntax(kind));
  const Value object = KW_TRY(eval(trace, node["value"]));
  const std::string name = private_name(trace, node["attr"].as_string());
  trace.mark(name, node);
  std::optional<Value> found = KW_TRY(attribute(trace, object, name));
  if (found) return std::move(*found);
  if (object.get<Tensor>()) return input_error(unknown_function("Tensor." + name));
  return input_error("'{}' object has no attribute '{}'", type_name(object), name);
}

}  // namespace

Result<Value> eval(TraceState& trace, const Json& node) {
  const Deeper deeper(trace.depth);
  if (trace.depth > kMaxDepth || ++trace.steps > kMaxSteps) {
    trace.fatal = true;
    return trace.refuse(node, trace.depth > kMaxDepth
                                  ? "calls and expressions are nested too deeply"
                                  : too_many_steps(kMaxSteps));
  }
  auto result = eval_kind(trace, node);
  if (!result) return trace.located(node, std::move(result).error());
  return result;
}

}  // namespace kw::frontend
