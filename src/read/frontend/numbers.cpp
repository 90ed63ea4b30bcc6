// Numbers of the reference decide shapes, so they must be exactly Python's. Floor division and
// modulo follow the sign of the divisor. Ints are Dims and keep their symbols through arithmetic. A
// comparison must have one answer now, so it uses the value and adds a guard to the trace. A guard
// records what the trace assumes of the dims. The alternative, to explore both branches, would
// multiply the traces. Floats keep how they follow from extents and runtime scalars, as a text for
// the plan; using their value in another way fixes those. The cost: an int that needs more than 64
// bits is an Error.
#include "frontend/numbers.h"
#include "core/contains.h"
#include "frontend/text_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/text.h"
#include "frontend/cell.h"
#include "frontend/objects.h"
#include "kernel/number_expr.h"

namespace kw::frontend {

using graph::Builder;
using graph::Dim;

std::optional<Dim> as_dim(const Value& value) {
  if (const auto* integer = value.get<Dim>()) return *integer;
  if (const auto* number = value.get<Float>(); number && number->is_int())
    return Dim(static_cast<int64_t>(static_cast<double>(*number)));
  if (const auto* flag = value.get<bool>()) return Dim(*flag ? 1 : 0);
  return std::nullopt;
}

namespace {

/// The value of as_dim without a copy of its polynomial: dicts compare many keys.
std::optional<int64_t> as_integer(const Value& value) {
  if (const auto* integer = value.get<Dim>()) return integer->value();
  if (const auto* flag = value.get<bool>()) return *flag ? 1 : 0;
  if (const auto* number = value.get<Float>(); number && number->is_int())
    return static_cast<int64_t>(static_cast<double>(*number));
  return std::nullopt;
}

}  // namespace

bool is_number(const Value& value) {
  return value.get<Float>() || value.get<Dim>() || value.get<bool>();
}

std::optional<double> as_number(const Value& value) {
  if (const auto* number = value.get<Float>()) return *number;
  if (const auto integer = as_integer(value)) return static_cast<double>(*integer);
  return std::nullopt;
}

int64_t concrete(Builder& graph, const Dim& dim) {
  if (!dim.is_constant()) graph.guard(fmt::format("{} == {}", dim.text(), dim.value()));
  return dim.value();
}

bool at_most(Builder& graph, const Dim& a, const Dim& b) {
  const bool holds = a.value() <= b.value();
  if ((a - b).is_constant()) return holds;
  graph.guard(fmt::format("{} {} {}", a.text(), holds ? "<=" : ">", b.text()));
  return holds;
}

namespace {

const char* symbol_of(std::string_view op) {
  static const std::map<std::string_view, const char*> kSymbols = {
      {"Add", "+"},       {"Sub", "-"},     {"Mult", "*"},    {"Div", "/"},    {"FloorDiv", "//"},
      {"Mod", "%"},       {"Pow", "**"},    {"MatMult", "@"}, {"BitAnd", "&"}, {"BitOr", "|"},
      {"BitXor", "^"},    {"LShift", "<<"}, {"RShift", ">>"}, {"Lt", "<"},     {"LtE", "<="},
      {"Gt", ">"},        {"GtE", ">="},    {"Eq", "=="},     {"NotEq", "!="}, {"In", "in"},
      {"NotIn", "not in"}};
  const auto found = kSymbols.find(op);
  return found == kSymbols.end() ? "?" : found->second;
}

Error unsupported(std::string_view op, const Value& a, const Value& b) {
  return input_error("unsupported operand types for {}: '{}' and '{}'", symbol_of(op), type_name(a),
                     type_name(b));
}

Error too_large() { return input_error("an integer of the reference does not fit 64 bits"); }

Result<Dim> multiply(const Dim& a, const Dim& b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a.value(), b.value(), &product)) return too_large();
  return a * b;
}

Result<Dim> power(Builder& graph, const Dim& base, int64_t exponent) {
  // Extents of tensors have no higher powers of a symbol, so its value is enough.
  const bool symbolic = exponent <= 4;
  const Dim factor = symbolic ? base : Dim(concrete(graph, base));
  Dim result(1);
  if (factor.value() == 0 || factor.value() == 1) return exponent == 0 ? Dim(1) : factor;
  if (factor.value() == -1) return Dim(exponent % 2 ? -1 : 1);
  for (int64_t i = 0; i < exponent; ++i) result = KW_TRY(multiply(result, factor));
  return result;
}

Dim negated(const Dim& a) { return Dim(0) - a; }

Result<Value> divide_ints(std::string_view op, const Dim& a, const Dim& b) {
  if (b.value() == 0) return input_error("integer division or modulo by zero");
  if (a.value() == INT64_MIN || b.value() == INT64_MIN) return too_large();
  const bool flip = b.value() < 0;
  const Dim top = flip ? negated(a) : a;
  const Dim bottom = flip ? negated(b) : b;
  if (op == "FloorDiv") return Value(floor_div(top, bottom));
  const Dim rest = remainder(top, bottom);
  return Value(flip ? negated(rest) : rest);
}

Result<Value> bits(Builder& graph, std::string_view op, const Dim& first, const Dim& second) {
  const int64_t a = concrete(graph, first), b = concrete(graph, second);
  if (op == "BitAnd") return Value(Dim(a & b));
  if (op == "BitOr") return Value(Dim(a | b));
  if (op == "BitXor") return Value(Dim(a ^ b));
  if (b < 0) return input_error("negative shift count");
  if (op == "RShift") return Value(Dim(a >> std::min<int64_t>(b, 63)));
  if (b > 62) return a == 0 ? Result<Value>(Value(Dim(0))) : Result<Value>(too_large());
  const Dim shifted = KW_TRY(multiply(Dim(a), Dim(int64_t{1} << b)));
  return Value(shifted);
}

Result<Value> ints(Builder& graph, std::string_view op, const Dim& a, const Dim& b) {
  int64_t unused = 0;
  if (op == "Add") {
    if (__builtin_add_overflow(a.value(), b.value(), &unused)) return too_large();
    return Value(a + b);
  }
  if (op == "Sub") {
    if (__builtin_sub_overflow(a.value(), b.value(), &unused)) return too_large();
    return Value(a - b);
  }
  if (op == "Mult") {
    const Dim product = KW_TRY(multiply(a, b));
    return Value(product);
  }
  if (op == "Div") {
    if (b.value() == 0) return input_error("division by zero");
    return Value(static_cast<double>(a.value()) / static_cast<double>(b.value()));
  }
  if (op == "FloorDiv" || op == "Mod") return divide_ints(op, a, b);
  if (op == "Pow") {
    if (b.value() < 0)
      return Value(std::pow(static_cast<double>(a.value()), static_cast<double>(b.value())));
    const Dim result = KW_TRY(power(graph, a, b.value()));
    return Value(result);
  }
  return bits(graph, op, a, b);
}

Result<Value> floats(std::string_view op, double a, double b) {
  if (op == "Add") return Value(a + b);
  if (op == "Sub") return Value(a - b);
  if (op == "Mult") return Value(a * b);
  if (op == "Pow") {
    if (a < 0 && b != std::floor(b)) return input_error("a negative number to a fractional power");
    return Value(std::pow(a, b));
  }
  if (op != "Div" && op != "FloorDiv" && op != "Mod") return unsupported(op, a, b);
  if (b == 0) return input_error("float division by zero");
  if (op == "Div") return Value(a / b);
  if (op == "FloorDiv") return Value(std::floor(a / b));
  return Value(a - b * std::floor(a / b));
}

/// The longest expression that a plan gets; longer ones are numbers.
constexpr size_t kMaxOrigin = 400;

/// How a number follows; of a literal only its text.
NumberOrigin origin_of(const Value& value) {
  NumberOrigin origin;
  origin.is_operand = true;
  if (const auto* number = value.get<Float>()) {
    if (number->origin()) return *number->origin();
    origin.text = fmt::format("{}", number->shown());
    origin.is_operand = !std::signbit(number->shown());
    return origin;
  }
  const Dim dim = *as_dim(value);
  if (dim.is_constant()) {
    origin.text = fmt::format("{}", dim.value());
    origin.is_operand = dim.value() >= 0;
    return origin;
  }
  const bool name = dim.text().find_first_of(" (") == std::string::npos;
  origin.text = name ? dim.text() : "int(" + dim.text() + ")";
  origin.dims = {dim};
  origin.base = dim;
  return origin;
}

/// Whether the number changes with extents or runtime scalars.
bool follows(const Value& value) {
  if (const auto* number = value.get<Float>()) return number->origin() != nullptr;
  const auto* dim = value.get<Dim>();
  return dim && !dim->is_constant();
}

Value without_origin(const Value& value) {
  if (const auto* number = value.get<Float>())
    return number->is_int() ? Value(Dim(static_cast<int64_t>(number->shown())))
                            : Value(number->shown());
  if (const auto* dim = value.get<Dim>()) return Value(Dim(dim->value()));
  return value;
}

std::string operand_text(const NumberOrigin& origin) {
  return origin.is_operand ? origin.text : "(" + origin.text + ")";
}

void join_origins(NumberOrigin& into, const NumberOrigin& from) {
  into.dims.insert(into.dims.end(), from.dims.begin(), from.dims.end());
  for (const auto& scalar : from.scalars) {
    if (!contains(into.scalars, scalar)) into.scalars.push_back(scalar);
  }
}

/// Keeps "base * factor / divisor" through a product with a literal or a quotient.
void keep_multiple(std::string_view op, const Value& a, const Value& b, NumberOrigin& to) {
  const NumberOrigin left = origin_of(a), right = origin_of(b);
  const bool whole_divisor = b.get<Dim>() || b.get<bool>();
  const double by = without_origin(b).get<Float>() ? b.get<Float>()->shown() : 0;
  if (op == "Mult" && left.base && !follows(b) && left.divisor.is_constant() &&
      left.divisor.value() == 1) {
    to.base = left.base;
    to.factor = left.factor * *as_number(b);
  } else if (op == "Mult" && right.base && !follows(a)) {
    keep_multiple(op, b, a, to);
  } else if (op == "Div" && left.base && left.factor == 1 && left.divisor.is_constant() &&
             left.divisor.value() == 1) {
    const bool whole_literal = by >= 1 && by < 0x1p40 && by == std::floor(by);
    if (!whole_divisor && (follows(b) || !whole_literal)) return;
    to.base = left.base;
    to.divisor = whole_divisor ? *as_dim(b) : Dim(static_cast<int64_t>(by));
  }
}

/// The origin of an operation's result; null when it stays a literal.
std::shared_ptr<const NumberOrigin> combined(std::string_view op, const Value& a, const Value& b) {
  const NumberOrigin left = origin_of(a), right = origin_of(b);
  auto origin = std::make_shared<NumberOrigin>();
  if (op == "Pow") {
    origin->text = fmt::format("pow({}, {})", left.text, right.text);
    origin->is_operand = true;
  } else if (op == "FloorDiv") {
    origin->text = fmt::format("floor({} / {})", operand_text(left), operand_text(right));
    origin->is_operand = true;
  } else {
    const char* symbol = op == "Add" ? "+" : op == "Sub" ? "-" : op == "Mult" ? "*" : "/";
    origin->text = fmt::format("{} {} {}", operand_text(left), symbol, operand_text(right));
  }
  if (origin->text.size() > kMaxOrigin) return nullptr;
  join_origins(*origin, left);
  join_origins(*origin, right);
  if (op == "Mult" || op == "Div") keep_multiple(op, a, b, *origin);
  return origin;
}

/// Arithmetic whose result follows from extents or runtime scalars. Not set when the result is a
/// literal, or an int over dims alone, whose symbols Dim keeps.
Result<std::optional<Value>> symbolic(Builder& graph, std::string_view op, const Value& a,
                                      const Value& b) {
  const bool dims = (a.get<Dim>() || a.get<bool>()) && (b.get<Dim>() || b.get<bool>());
  const bool known =
      op == "Add" || op == "Sub" || op == "Mult" || op == "Div" || op == "Pow" || op == "FloorDiv";
  if (!known || !(follows(a) || follows(b)) || !is_number(a) || !is_number(b))
    return std::optional<Value>();
  const Value plain = KW_TRY(arithmetic(graph, op, without_origin(a), without_origin(b)));
  const bool is_int = plain.get<Dim>() != nullptr;
  if (is_int && (dims || op == "FloorDiv")) return std::optional<Value>();
  const auto origin = combined(op, a, b);
  if (!origin) return std::optional<Value>();
  const double value =
      is_int ? static_cast<double>(plain.get<Dim>()->value()) : plain.get<Float>()->shown();
  return std::optional(Value(Float(value, origin, is_int)));
}

Result<Value> repeat(const Value& sequence, const Dim& times) {
  const int64_t count = std::max<int64_t>(times.value(), 0);
  if (const auto* text = sequence.get<std::string>()) {
    if (static_cast<double>(text->size()) * static_cast<double>(count) > kMaxText)
      return input_error("the string becomes too long");
    std::string result;
    for (int64_t i = 0; i < count; ++i) result += *text;
    return Value(std::move(result));
  }
  const std::vector<Value>& items = *items_of(sequence);
  if (static_cast<double>(items.size()) * static_cast<double>(count) > kMaxItems)
    return input_error("the list becomes longer than {} items", kMaxItems);
  std::vector<Value> result;
  for (int64_t i = 0; i < count; ++i) result.insert(result.end(), items.begin(), items.end());
  return sequence.get<std::shared_ptr<List>>() ? make_list(std::move(result))
                                               : make_tuple(std::move(result));
}

Result<Value> join_sequences(const Value& a, const Value& b) {
  if (const auto* left = a.get<std::string>()) {
    if (left->size() + b.get<std::string>()->size() > kMaxText)
      return input_error("the string becomes too long");
    return Value(*left + *b.get<std::string>());
  }
  std::vector<Value> items = *items_of(a);
  items.insert(items.end(), items_of(b)->begin(), items_of(b)->end());
  if (items.size() > kMaxItems)
    return input_error("the list becomes longer than {} items", kMaxItems);
  return a.get<std::shared_ptr<List>>() ? make_list(std::move(items))
                                        : make_tuple(std::move(items));
}

bool is_sequence(const Value& value) { return value.get<std::string>() || items_of(value); }

}  // namespace

void finalize(Builder& graph, const Value& value) {
  const auto* number = value.get<Float>();
  if (!number || !number->origin()) return;
  number->fix();
  for (const Dim& dim : number->origin()->dims) concrete(graph, dim);
}

std::optional<graph::Number> as_symbolic(const Value& value) {
  if (const auto* number = value.get<Float>()) return number->number();
  if (!is_number(value)) return std::nullopt;
  const double plain = static_cast<double>(as_dim(value)->value());
  return follows(value) ? graph::Number(plain, origin_of(value).text) : graph::Number(plain);
}

std::optional<Value> symbolic_call(const std::string& name, const std::vector<Value>& arguments,
                                   double result) {
  const bool any = std::any_of(arguments.begin(), arguments.end(), follows);
  if (!any || !kernel::number_function(name, arguments.size())) return std::nullopt;
  auto origin = std::make_shared<NumberOrigin>();
  origin->is_operand = true;
  std::vector<std::string> texts;
  for (const Value& one : arguments) {
    const NumberOrigin from = origin_of(one);
    texts.push_back(from.text);
    join_origins(*origin, from);
  }
  origin->text = name + "(" + join(texts, ", ") + ")";
  if (origin->text.size() > kMaxOrigin) return std::nullopt;
  return Value(Float(result, std::move(origin), false));
}

std::optional<Dim> whole_part(const Value& value, bool up) {
  const auto* number = value.get<Float>();
  const NumberOrigin* origin = number ? number->origin() : nullptr;
  if (!origin || !origin->base || origin->base->value() < 0 || origin->divisor.value() < 1)
    return std::nullopt;
  const auto divided = [&](const Dim& top, const Dim& by) {
    return floor_div(up ? top + by - 1 : top, by);
  };
  if (origin->factor == 1) return divided(*origin->base, origin->divisor);
  if (!(origin->factor > 0)) return std::nullopt;
  // A factor with few bits divides exactly, as the double does.
  constexpr int64_t kFewBits = 1 << 20;
  for (int64_t by = 1; by <= kFewBits; by *= 2) {
    const double top = origin->factor * static_cast<double>(by);
    if (top != std::floor(top) || top > static_cast<double>(kFewBits)) continue;
    return divided(*origin->base * Dim(static_cast<int64_t>(top)), Dim(by));
  }
  if (up) return std::nullopt;
  return Dim::symbol(fmt::format("scaled({}, {})", origin->base->text(), origin->factor),
                     static_cast<int64_t>(number->shown()));
}

Result<Value> arithmetic(Builder& graph, std::string_view op, const Value& a, const Value& b) {
  if (const auto kept = KW_TRY(symbolic(graph, op, a, b))) return *kept;
  const auto left = as_dim(a), right = as_dim(b);
  if (left && right) {
    const bool logical = a.get<bool>() && b.get<bool>() && op.starts_with("Bit");
    Value result = KW_TRY(ints(graph, op, *left, *right));
    return logical ? Value(as_dim(result)->value() != 0) : result;
  }
  const auto x = as_number(a), y = as_number(b);
  if (x && y) return floats(op, *x, *y);
  if (op == "Add" && is_sequence(a) && a.v.index() == b.v.index()) return join_sequences(a, b);
  if (op == "Mult" && is_sequence(a) && right) return repeat(a, *right);
  if (op == "Mult" && is_sequence(b) && left) return repeat(b, *left);
  if (op == "Mod" && a.get<std::string>())
    return Value(KW_TRY(percent_format(*a.get<std::string>(), b)));
  return unsupported(op, a, b);
}

Result<Value> negate(std::string_view op, const Value& a) {
  if (const auto* number = a.get<Float>(); number && op != "Invert") {
    if (op == "UAdd") return a;
    if (!number->origin()) return Value(-number->shown());
    auto origin = std::make_shared<NumberOrigin>(*number->origin());
    origin->text = "-" + operand_text(*number->origin());
    origin->is_operand = false;
    origin->base.reset();
    return Value(Float(-number->shown(), std::move(origin), number->is_int()));
  }
  if (const auto dim = as_dim(a)) {
    if (dim->value() == INT64_MIN) return too_large();
    if (op == "UAdd") return Value(*dim);
    return Value(op == "USub" ? negated(*dim) : Dim(-1) - *dim);
  }
  return input_error("bad operand type for unary {}: '{}'",
                     op == "USub"   ? "-"
                     : op == "UAdd" ? "+"
                                    : "~",
                     type_name(a));
}

bool same(const Value& a, const Value& b, int depth) {
  const auto m = as_integer(a), n = as_integer(b);
  if (m && n) return *m == *n;
  const auto x = as_number(a), y = as_number(b);
  if (x && y) return *x == *y;
  if (a.v.index() != b.v.index()) return false;
  if (const auto* text = a.get<std::string>()) return *text == *b.get<std::string>();
  if (const auto* type = a.get<DTypeValue>()) return type->dtype == b.get<DTypeValue>()->dtype;
  if (const auto* library = a.get<Library>()) return library->name == b.get<Library>()->name;
  if (a.is_none() || a.get<Ellipsis>()) return true;
  if (const auto* object = a.get<std::shared_ptr<Object>>())
    return *object == *b.get<std::shared_ptr<Object>>();
  if (const auto* cls = a.get<std::shared_ptr<Class>>())
    return *cls == *b.get<std::shared_ptr<Class>>();
  if (const auto* function = a.get<std::shared_ptr<Function>>())
    return *function == *b.get<std::shared_ptr<Function>>();
  if (const auto* tensor = a.get<Tensor>()) return tensor->cell == b.get<Tensor>()->cell;
  const std::vector<Value>*left = items_of(a), *right = items_of(b);
  if (!left || left->size() != right->size() || depth > kMaxNesting) return false;
  for (size_t i = 0; i < left->size(); ++i) {
    if (!same((*left)[i], (*right)[i], depth + 1)) return false;
  }
  return true;
}

namespace {

Result<bool> contains(const Value& item, const Value& container) {
  if (const auto* text = container.get<std::string>()) {
    const auto* piece = item.get<std::string>();
    if (!piece) return unsupported("In", item, container);
    return text->find(*piece) != std::string::npos;
  }
  if (const auto* dict = container.get<std::shared_ptr<Dict>>()) {
    for (const auto& [key, value] : (*dict)->items) {
      if (same(key, item)) return true;
    }
    return false;
  }
  const std::vector<Value>* items = items_of(container);
  if (!items) return unsupported("In", item, container);
  for (const Value& one : *items) {
    if (same(one, item)) return true;
  }
  return false;
}

template <typename T>
bool ordered(std::string_view op, const T& a, const T& b) {
  if (op == "Lt") return a < b;
  if (op == "LtE") return a <= b;
  if (op == "Gt") return a > b;
  return a >= b;
}

const char* opposite(std::string_view op) {
  if (op == "Lt") return ">=";
  if (op == "LtE") return ">";
  if (op == "Gt") return "<=";
  if (op == "GtE") return "<";
  return op == "Eq" ? "!=" : "==";
}

bool compare_dims(Builder& graph, std::string_view op, const Dim& a, const Dim& b) {
  const bool result = op == "Eq"      ? a.value() == b.value()
                      : op == "NotEq" ? a.value() != b.value()
                                      : ordered(op, a.value(), b.value());
  if (!(a - b).is_constant())
    graph.guard(fmt::format("{} {} {}", a.text(), result ? symbol_of(op) : opposite(op), b.text()));
  return result;
}

Result<bool> compare_items(Builder& graph, const std::vector<Value>& a,
                           const std::vector<Value>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const auto left = as_dim(a[i]), right = as_dim(b[i]);
    if (left && right ? !compare_dims(graph, "Eq", *left, *right) : !same(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace

Result<bool> compare(Builder& graph, std::string_view op, const Value& a, const Value& b) {
  if (op == "Is" || op == "IsNot") {
    const bool is = a.v.index() == b.v.index() && !items_of(a) && same(a, b);
    return is == (op == "Is");
  }
  if (op == "In" || op == "NotIn") {
    const bool in = KW_TRY(contains(a, b));
    return in == (op == "In");
  }
  finalize(graph, a);
  finalize(graph, b);
  const auto left = as_dim(a), right = as_dim(b);
  if (left && right) return compare_dims(graph, op, *left, *right);
  if (op == "Eq" || op == "NotEq") {
    bool equal = false;
    if (items_of(a) && items_of(b) && a.v.index() == b.v.index())
      equal = KW_TRY(compare_items(graph, *items_of(a), *items_of(b)));
    else
      equal = same(a, b);
    return equal == (op == "Eq");
  }
  const auto x = as_number(a), y = as_number(b);
  if (x && y) return ordered(op, *x, *y);
  if (a.get<std::string>() && b.get<std::string>())
    return ordered(op, *a.get<std::string>(), *b.get<std::string>());
  return unsupported(op, a, b);
}

Result<bool> truth(Builder& graph, const Value& value) {
  if (value.is_none()) return false;
  if (const auto* integer = value.get<Dim>()) return compare_dims(graph, "NotEq", *integer, Dim(0));
  finalize(graph, value);
  if (const auto number = as_number(value)) return *number != 0;
  if (const auto* text = value.get<std::string>()) return !text->empty();
  if (const std::vector<Value>* items = items_of(value)) return !items->empty();
  if (const auto* dict = value.get<std::shared_ptr<Dict>>()) return !(*dict)->items.empty();
  return true;
}

std::string to_text(const Value& value, int depth) {
  if (depth > 3) return "...";
  if (value.is_none()) return "None";
  if (const auto* flag = value.get<bool>()) return *flag ? "True" : "False";
  if (const auto* integer = value.get<Dim>()) return fmt::format("{}", integer->value());
  if (const auto* number = value.get<Float>()) return fmt::format("{}", number->shown());
  if (const auto* text = value.get<std::string>()) return *text;
  if (const auto* type = value.get<DTypeValue>()) return tensor::dtype_name(type->dtype);
  if (const auto* library = value.get<Library>()) return library->name;
  if (value.get<Tensor>()) return "tensor(...)";
  const std::vector<Value>* items = items_of(value);
  if (!items) return fmt::format("<{}>", type_name(value));
  std::vector<std::string> texts;
  for (size_t i = 0; i < items->size() && i < 16; ++i)
    texts.push_back(to_text((*items)[i], depth + 1));
  if (items->size() > 16) texts.emplace_back("...");
  const bool list = value.get<std::shared_ptr<List>>() != nullptr;
  return fmt::format("{}{}{}{}", list ? "[" : "(", join(texts, ", "),
                     !list && items->size() == 1 ? "," : "", list ? "]" : ")");
}

}  // namespace kw::frontend
