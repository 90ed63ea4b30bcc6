// Python's own functions and the methods of its containers. References use them for shapes, loops
// over layers and configuration. All work on known values, so range(), zip() and map() give lists,
// not iterators. Iterators as in Python would need a state per loop; a trace unrolls loops in any
// case. The cost: a list has at most kMaxItems items, and a set is a list that keeps duplicates. A
// function that needs a tensor's value, such as int(x), is refused unless the value is known before
// the run.
#include "frontend/builtins.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "core/text.h"
#include "frontend/classes.h"
#include "frontend/expressions.h"
#include "frontend/functions.h"
#include "frontend/math_library.h"
#include "frontend/names.h"
#include "frontend/numbers.h"
#include "frontend/refusals.h"
#include "frontend/subscript.h"
#include "frontend/tensors.h"
#include "frontend/text_format.h"

namespace kw::frontend {

using graph::Dim;

namespace {

/// range() as a list.
Result<Value> make_range(graph::Builder& graph, const std::vector<Value>& given) {
  int64_t bounds[3] = {0, 0, 1};
  if (given.empty() || given.size() > 3) return input_error("range() takes 1 to 3 arguments");
  for (size_t i = 0; i < given.size(); ++i) {
    const auto dim = as_dim(given[i]);
    if (!dim && given[i].get<Tensor>()) return input_error(value_decides("a tensor bounds a loop"));
    if (!dim)
      return input_error("'{}' object cannot be interpreted as an integer", type_name(given[i]));
    bounds[given.size() == 1 ? 1 : i] = concrete(graph, *dim);
  }
  const auto [start, stop, step] = bounds;
  if (step == 0) return input_error("range() arg 3 must not be zero");
  const double count = std::ceil((static_cast<double>(stop) - static_cast<double>(start)) /
                                 static_cast<double>(step));
  if (count > kMaxItems)
    return input_error("a range of {} steps is unrolled: use tensor operations for more than {}",
                       count, kMaxItems);
  std::vector<Value> items;
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i)
    items.emplace_back(Dim(start + i * step));
  return make_list(std::move(items));
}

Result<Value> to_int(graph::Builder& graph, const Value& value) {
  if (const auto* number = value.get<Float>(); number && number->is_int()) return value;
  if (const auto dim = as_dim(value)) return Value(*dim);
  if (const auto dim = whole_part(value, false)) return Value(*dim);
  if (const auto* number = value.get<Float>()) {
    finalize(graph, value);
    if (!(std::abs(*number) < 9.2e18))
      return input_error("cannot convert float {} to an integer", number->shown());
    return Value(Dim(static_cast<int64_t>(*number)));
  }
  if (const auto* text = value.get<std::string>()) {
    if (const auto parsed = parse_int(trim(*text))) return Value(Dim(*parsed));
    return input_error("invalid literal for int(): '{}'", *text);
  }
  return input_error("int() argument must be a number, not {}", type_name(value));
}

Result<Value> to_float(const Value& value) {
  if (is_number(value)) {
    const Value zero = 0.0;  // an int becomes a float and keeps how it follows
    graph::Builder unused;
    return value.get<Float>() && !value.get<Float>()->is_int()
               ? Result<Value>(value)
               : arithmetic(unused, "Add", value, zero);
  }
  if (const auto* text = value.get<std::string>()) {
    const std::string lower = lower_case(trim(*text));
    const bool minus = lower.starts_with("-");
    const std::string body =
        lower.starts_with("-") || lower.starts_with("+") ? lower.substr(1) : lower;
    if (body == "inf" || body == "infinity") return Value(minus ? -INFINITY : INFINITY);
    if (body == "nan") return Value(static_cast<double>(NAN));
    if (const auto parsed = parse_double(lower)) return Value(*parsed);
    return input_error("could not convert string to float: '{}'", *text);
  }
  return input_error("float() argument must be a number, not {}", type_name(value));
}

/// min() or max() of two floats that follow from extents or runtime scalars; not set for others.
std::optional<Value> symbolic_extreme(const Value& a, const Value& b, bool largest) {
  const auto *x = a.get<Float>(), *y = b.get<Float>();
  if (!x || !y || x->is_int() || y->is_int()) return std::nullopt;
  const double p = x->shown(), q = y->shown();
  const bool second = largest ? q > p : q < p;
  return symbolic_call(largest ? "max" : "min", {a, b}, second ? q : p);
}

/// min() and max() of numbers. Ints keep their symbols.
Result<Value> extreme(graph::Builder& graph, const std::vector<Value>& items, bool largest) {
  if (items.empty()) return input_error("{}() of nothing", largest ? "max" : "min");
  Value best = items[0];
  for (size_t i = 1; i < items.size(); ++i) {
    if (auto symbolic = symbolic_extreme(best, items[i], largest)) {
      best = std::move(*symbolic);
      continue;
    }
    const auto a = as_dim(best), b = as_dim(items[i]);
    if (a && b) {
      best = largest ? max(*a, *b) : min(*a, *b);
      continue;
    }
    const bool better = KW_TRY(compare(graph, largest ? "Gt" : "Lt", items[i], best));
    if (better) best = items[i];
  }
  return best;
}

bool any_tensor(const std::vector<Value>& items) {
  return std::any_of(items.begin(), items.end(), [](const Value& v) { return v.get<Tensor>(); });
}

bool is_instance(const Value& value, const Value& type, int depth) {
  if (const std::vector<Value>* types = items_of(type)) {
    return depth < 4 && std::any_of(types->begin(), types->end(), [&](const Value& one) {
             return is_instance(value, one, depth + 1);
           });
  }
  if (const auto* cls = type.get<std::shared_ptr<Class>>()) {
    const auto* object = value.get<std::shared_ptr<Object>>();
    return object && (*object)->cls->derives_from((*cls)->name);
  }
  const auto* library = type.get<Library>();
  if (!library) return false;
  const std::string name = canonical(library->name);
  if (name == "torch.Tensor") return value.get<Tensor>() != nullptr;
  if (name == "torch.nn.Module" || name.starts_with("torch.nn.")) {
    const auto* object = value.get<std::shared_ptr<Object>>();
    return object && ((*object)->cls->derives_from(name) ||
                      (name == "torch.nn.Module" && (*object)->cls->kind == ClassKind::Module));
  }
  const std::string word = name.substr(name.rfind('.') + 1);
  if (word == "Size") return value.get<std::shared_ptr<Tuple>>() != nullptr;
  if (word == "Iterable" || word == "Sequence" || word == "Sized")
    return items_of(value) || value.get<std::string>() ||
           (word != "Sequence" && value.get<std::shared_ptr<Dict>>());
  if (word == "Number") return is_number(value);
  if (word == "int") return is_number(value) && type_name(value) != "float";
  if (word == "dtype") return value.get<DTypeValue>() != nullptr;
  return type_name(value) == word;
}

/// The first argument, which most builtins need; an Error if it is missing.
Result<Value> first(const std::string& name, const Arguments& arguments) {
  if (arguments.positional.empty()) return input_error("{}() needs an argument", name);
  return arguments.positional[0];
}

Error value_as_number(const std::string& name) {
  return input_error(value_decides(fmt::format("{}() of a tensor", name)));
}

}  // namespace

Result<Value> builtin_length(TraceState& trace, const Value& value) {
  if (const auto* tensor = value.get<Tensor>()) {
    const graph::NodeId node = KW_TRY(node_of(trace, *tensor));
    if (trace.graph.rank(node) == 0) return input_error("len() of a 0-d tensor");
    return Value(trace.graph[node].shape[0]);
  }
  if (const auto* object = value.get<std::shared_ptr<Object>>();
      object && (*object)->holding == Holding::Nothing) {
    const Value* method = (*object)->cls->find("__len__");
    if (method) return invoke(trace, *method, {{value}, {}});
  }
  if (!items_of(value) && is_number(value))
    return input_error("object of type '{}' has no len()", type_name(value));
  const std::vector<Value> items = KW_TRY(iterate(trace, value));
  return Value(Dim(static_cast<int64_t>(items.size())));
}

namespace {

Result<Value> builtin_number(TraceState& trace, const std::string& name,
                             const Arguments& arguments) {
  const Value value = KW_TRY(first(name, arguments));
  if (const auto* tensor = value.get<Tensor>()) {
    const auto constant = KW_TRY(constant_of(trace, *tensor));
    if (!constant) return value_as_number(name);
    return builtin_number(trace, name, {{*constant}, {}});
  }
  if (name == "int") return to_int(trace.graph, value);
  if (name == "float") return to_float(value);
  const bool holds = KW_TRY(truth_of(trace, value));
  return Value(holds);
}

Result<Value> builtin_reduce(TraceState& trace, const std::string& name,
                             const Arguments& arguments) {
  const Value value = KW_TRY(first(name, arguments));
  const bool several = arguments.positional.size() > 1 && (name == "min" || name == "max");
  if (!arguments.keywords.empty() && name != "sum")
    return input_error("{}() with keyword arguments is not supported", name);
  const std::vector<Value> items = several ? arguments.positional : KW_TRY(iterate(trace, value));
  if (name == "sum") {
    Value total = arguments.positional.size() > 1 ? arguments.positional[1] : Value(Dim(0));
    for (const Value& item : items) total = KW_TRY(binary(trace, "Add", total, item));
    return total;
  }
  if (name == "any" || name == "all") {
    for (const Value& item : items) {
      const bool holds = KW_TRY(truth_of(trace, item));
      if (holds == (name == "any")) return Value(holds);
    }
    return Value(name == "all");
  }
  if (any_tensor(items))
    return input_error(
        "{}() of tensors: their values are known only at run time\ntorch.{} compares per element",
        name, name == "max" ? "maximum" : "minimum");
  return extreme(trace.graph, items, name == "max");
}

Result<Value> make_dict(TraceState& trace, const Value& from, const std::vector<Value>& items) {
  if (const auto* other = from.get<std::shared_ptr<Dict>>())
    return Value(std::make_shared<Dict>(**other));
  auto dict = std::make_shared<Dict>();
  for (const Value& item : items) {
    const std::vector<Value> pair = KW_TRY(iterate(trace, item));
    if (pair.size() != 2) return input_error("dict() needs pairs");
    set_item(*dict, pair[0], pair[1]);
  }
  return Value(std::move(dict));
}

}  // namespace

Result<Value> builtin_sequence(TraceState& trace, const std::string& name,
                               const Arguments& arguments) {
  if (name == "zip") {
    std::vector<std::vector<Value>> columns;
    size_t rows = SIZE_MAX;
    for (const Value& one : arguments.positional) {
      columns.push_back(KW_TRY(iterate(trace, one)));
      rows = std::min(rows, columns.back().size());
    }
    std::vector<Value> result;
    for (size_t i = 0; i < rows && !columns.empty(); ++i) {
      std::vector<Value> row;
      for (const auto& column : columns) row.push_back(column[i]);
      result.push_back(make_tuple(std::move(row)));
    }
    return make_list(std::move(result));
  }
  if (arguments.positional.empty() && name == "dict") {
    auto dict = std::make_shared<Dict>();
    for (const auto& [key, value] : arguments.keywords) dict->items.emplace_back(key, value);
    return Value(std::move(dict));
  }
  if (arguments.positional.empty()) return name == "tuple" ? make_tuple({}) : make_list({});
  const bool mapping = name == "map" || name == "filter";
  if (mapping && arguments.positional.size() != 2)
    return input_error("{}() takes 2 arguments here", name);
  std::vector<Value> items = KW_TRY(iterate(trace, arguments.positional[mapping ? 1 : 0]));
  if (name == "tuple") return make_tuple(std::move(items));
  if (name == "list" || name == "set" || name == "iter") return make_list(std::move(items));
  if (name == "reversed") {
    std::reverse(items.begin(), items.end());
    return make_list(std::move(items));
  }
  if (name == "dict") return make_dict(trace, arguments.positional[0], items);
  int64_t next = 0;
  for (const auto& [key, value] : arguments.keywords) next = as_dim(value).value_or(Dim(0)).value();
  if (name == "enumerate" && arguments.positional.size() > 1)
    next = as_dim(arguments.positional[1]).value_or(Dim(0)).value();
  std::vector<Value> result;
  for (const Value& item : items) {
    if (name == "enumerate") {
      result.push_back(make_tuple({Dim(next++), item}));
      continue;
    }
    const Value mapped = KW_TRY(invoke(trace, arguments.positional[0], {{item}, {}}));
    if (name == "map")
      result.push_back(mapped);
    else if (KW_TRY(truth_of(trace, mapped)))
      result.push_back(item);
  }
  return make_list(std::move(result));
}

namespace {

Result<Value> builtin_sorted(TraceState& trace, Arguments arguments) {
  const Value value = KW_TRY(first("sorted", arguments));
  std::vector<Value> items = KW_TRY(iterate(trace, value));
  std::vector<std::pair<Value, Value>> keyed;
  bool reverse = false;
  Value key;
  for (const auto& [name, given] : arguments.keywords) {
    if (name == "key") key = given;
    if (name == "reverse") reverse = KW_TRY(truth_of(trace, given));
  }
  for (const Value& item : items) {
    if (item.get<Tensor>()) return input_error(value_decides("sorted() of tensors"));
    keyed.emplace_back(key.is_none() ? item : KW_TRY(invoke(trace, key, {{item}, {}})), item);
  }
  // Insertion sort, because comparing may fail, which std::sort cannot report.
  for (size_t i = 1; i < keyed.size(); ++i) {
    for (size_t j = i; j > 0; --j) {
      if (++trace.steps > kMaxSteps) return input_error(too_many_steps(kMaxSteps));
      const char* op = reverse ? "Gt" : "Lt";
      const bool swap = KW_TRY(compare(trace.graph, op, keyed[j].first, keyed[j - 1].first));
      if (!swap) break;
      std::swap(keyed[j], keyed[j - 1]);
    }
  }
  for (size_t i = 0; i < items.size(); ++i) items[i] = keyed[i].second;
  return make_list(std::move(items));
}

Result<Value> builtin_attribute(TraceState& trace, const std::string& name,
                                const Arguments& arguments) {
  const std::vector<Value>& given = arguments.positional;
  const auto* attribute_name = given.size() >= 2 ? given[1].get<std::string>() : nullptr;
  if (!attribute_name) return input_error("{}() needs an object and a name", name);
  if (name == "setattr") {
    if (given.size() != 3) return input_error("setattr() takes 3 arguments");
    KW_TRY(set_attribute(trace, given[0], *attribute_name, given[2]));
    return Value();
  }
  const auto* object = given[0].get<std::shared_ptr<Object>>();
  if (name == "delattr" && object && (*object)->attributes.erase(*attribute_name) > 0) {
    std::erase((*object)->order, *attribute_name);
    return Value();
  }
  const std::optional<Value> found = KW_TRY(attribute(trace, given[0], *attribute_name));
  if (name == "hasattr") return Value(found.has_value());
  if (found && name == "getattr") return *found;
  if (given.size() > 2) return given[2];
  return input_error("'{}' object has no attribute '{}'", type_name(given[0]), *attribute_name);
}

Result<Value> type_of(const Value& value) {
  if (const auto* object = value.get<std::shared_ptr<Object>>()) return Value((*object)->cls);
  if (value.get<Tensor>()) return Value(Library{"torch.Tensor"});
  return Value(Library{"builtins." + type_name(value)});
}

Result<Value> bind_as(const std::string& name, const Value& value) {
  const auto* function = value.get<std::shared_ptr<Function>>();
  if (!function) return input_error("{}() needs a function", name);
  auto bound = std::make_shared<Function>(**function);
  bound->binding = name == "staticmethod"  ? Binding::Static
                   : name == "classmethod" ? Binding::Class
                                           : Binding::Property;
  return Value(std::move(bound));
}

Result<Value> builtin_of_one(TraceState& trace, const std::string& name, Arguments arguments) {
  const Value value = KW_TRY(first(name, arguments));
  const size_t count = arguments.positional.size();
  const Value second = count > 1 ? arguments.positional[1] : Value();
  if (name == "len") return builtin_length(trace, value);
  if (name == "isinstance") return Value(is_instance(value, second, 0));
  if (name == "callable")
    return Value(!is_number(value) && !items_of(value) && !value.get<Tensor>() && !value.is_none());
  if (name == "str" || name == "repr" || name == "format") return Value(to_text(value));
  if (name == "type") return type_of(value);
  if (name == "abs") {
    if (value.get<Tensor>()) return call_row(trace, "torch.abs", std::move(arguments));
    if (const auto* number = value.get<Float>(); number && !number->is_int()) {
      if (auto known = symbolic_call("abs", {value}, std::fabs(number->shown()))) return *known;
    }
    const bool negative = KW_TRY(compare(trace.graph, "Lt", value, Dim(0)));
    return negative ? negate("USub", value) : Result<Value>(value);
  }
  if (name == "round") {
    if (value.get<Tensor>()) return call_row(trace, "torch.round", std::move(arguments));
    return round_number(trace.graph, value, second);
  }
  if (name == "pow") return binary(trace, "Pow", value, second);
  if (name == "divmod") {
    const Value quotient = KW_TRY(binary(trace, "FloorDiv", value, second));
    return make_tuple({quotient, KW_TRY(binary(trace, "Mod", value, second))});
  }
  if (name == "slice") {
    auto slice = std::make_shared<SliceValue>();
    if (count == 1) slice->stop = value;
    if (count >= 2) *slice = {value, second, count > 2 ? arguments.positional[2] : Value()};
    return Value(std::move(slice));
  }
  if (name == "staticmethod" || name == "classmethod" || name == "property")
    return bind_as(name, value);
  return input_error("{}() is not supported\n{}", name, kWayOut + 3);
}

}  // namespace

Result<Value> call_builtin(TraceState& trace, const std::string& name, Arguments arguments) {
  static const std::map<std::string, int> kGroups = {
      {"int", 1},     {"float", 1},    {"bool", 1},      {"min", 2},    {"max", 2},    {"sum", 2},
      {"any", 2},     {"all", 2},      {"zip", 3},       {"tuple", 3},  {"list", 3},   {"set", 3},
      {"dict", 3},    {"reversed", 3}, {"enumerate", 3}, {"map", 3},    {"filter", 3}, {"iter", 3},
      {"getattr", 4}, {"hasattr", 4},  {"setattr", 4},   {"delattr", 4}};
  const auto group = kGroups.find(name);
  const int which = group == kGroups.end() ? 0 : group->second;
  if (which == 1 && !arguments.positional.empty()) return builtin_number(trace, name, arguments);
  if (which == 1)
    return name == "int" ? Value(Dim(0)) : name == "float" ? Value(0.0) : Value(false);
  if (which == 2) return builtin_reduce(trace, name, arguments);
  if (which == 3) return builtin_sequence(trace, name, arguments);
  if (which == 4) return builtin_attribute(trace, name, arguments);
  if (name == "range") return make_range(trace.graph, arguments.positional);
  if (name == "super") return make_super(trace, std::move(arguments));
  if (name == "sorted") return builtin_sorted(trace, std::move(arguments));
  if (name == "object") return make_plain_object(trace, "object");
  return builtin_of_one(trace, name, std::move(arguments));
}

namespace {

Result<Value> list_method(List& list, const std::string& name, const std::vector<Value>& given,
                          const std::vector<Value>& rest) {
  std::vector<Value>& items = list.items;
  if (name == "append" && given.size() == 1) {
    items.push_back(given[0]);
  } else if (name == "extend" && given.size() == 1) {
    items.insert(items.end(), rest.begin(), rest.end());
  } else if (name == "insert" && given.size() == 2 && as_dim(given[0])) {
    const int64_t size = static_cast<int64_t>(items.size());
    int64_t at = as_dim(given[0])->value();
    at = std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
    items.insert(items.begin() + at, given[1]);
  } else if (name == "pop" && given.size() <= 1) {
    if (items.empty()) return input_error("pop from empty list");
    int64_t at = given.empty() ? -1 : as_dim(given[0]).value_or(Dim(-1)).value();
    if (at < 0) at += static_cast<int64_t>(items.size());
    if (at < 0 || at >= static_cast<int64_t>(items.size()))
      return input_error("pop index out of range");
    Value value = items[static_cast<size_t>(at)];
    items.erase(items.begin() + at);
    return value;
  } else if (name == "reverse") {
    std::reverse(items.begin(), items.end());
  } else if (name == "clear") {
    items.clear();
  } else if (name == "copy") {
    return make_list(items);
  } else {
    return input_error("list.{}() is not supported this way", name);
  }
  if (items.size() > kMaxItems)
    return input_error("the list becomes longer than {} items", kMaxItems);
  return Value();
}

Result<Value> find_in(const std::vector<Value>& items, const std::string& name,
                      const Value& wanted) {
  int64_t count = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!same(items[i], wanted)) continue;
    if (name == "index") return Value(Dim(static_cast<int64_t>(i)));
    ++count;
  }
  if (name == "index") return input_error("{} is not in the list", to_text(wanted));
  return Value(Dim(count));
}

Result<Value> dict_method(Dict& dict, const std::string& name, const Arguments& arguments) {
  const std::vector<Value>& given = arguments.positional;
  std::vector<Value> result;
  for (const auto& [key, value] : dict.items) {
    if (name == "keys") result.push_back(key);
    if (name == "values") result.push_back(value);
    if (name == "items") result.push_back(make_tuple({key, value}));
    if ((name == "get" || name == "setdefault") && !given.empty() && same(key, given[0]))
      return value;
  }
  if (name == "keys" || name == "values" || name == "items") return make_list(std::move(result));
  const Value fallback = given.size() > 1 ? given[1] : Value();
  if (name == "get") return fallback;
  if (name == "copy") return Value(std::make_shared<Dict>(dict));
  if (name == "setdefault" && !given.empty()) {
    set_item(dict, given[0], fallback);
    return fallback;
  }
  if (name == "pop" && !given.empty()) {
    for (auto one = dict.items.begin(); one != dict.items.end(); ++one) {
      if (!same(one->first, given[0])) continue;
      Value value = one->second;
      dict.items.erase(one);
      return value;
    }
    if (given.size() > 1) return fallback;
    return input_error("the dict has no key '{}'", to_text(given[0]));
  }
  const auto* other = given.empty() ? nullptr : given[0].get<std::shared_ptr<Dict>>();
  if (name != "update" || (!given.empty() && !other))
    return input_error("dict.{}() is not supported this way", name);
  const Dict copy = other ? **other : Dict{};  // a copy: it may be the dict itself
  for (const auto& [key, value] : copy.items) set_item(dict, key, value);
  for (const auto& [key, value] : arguments.keywords) set_item(dict, Value(key), value);
  return Value();
}

Result<Value> text_method(const std::string& text, const std::string& name,
                          const std::vector<Value>& given) {
  const auto* word = given.empty() ? nullptr : given[0].get<std::string>();
  std::string result = text;
  const auto each = [&](int (*f)(int)) {
    for (char& c : result) c = static_cast<char>(f(static_cast<unsigned char>(c)));
    return Value(result);
  };
  if (name == "lower") return each(std::tolower);
  if (name == "upper") return each(std::toupper);
  if (name == "strip") return Value(std::string(trim(text)));
  if (name == "startswith" && word) return Value(text.starts_with(*word));
  if (name == "endswith" && word) return Value(text.ends_with(*word));
  if (name == "replace" && word && given.size() == 2 && given[1].get<std::string>() &&
      !word->empty())
    return Value(replace_all(text, *word, *given[1].get<std::string>()));
  if (name == "split" && (given.empty() || (word && word->size() == 1))) {
    std::vector<Value> pieces;
    for (std::string& piece : split(text, word ? (*word)[0] : ' ')) {
      if (word || !piece.empty()) pieces.emplace_back(std::move(piece));
    }
    return make_list(std::move(pieces));
  }
  if (name == "join" && !given.empty() && items_of(given[0])) {
    std::vector<std::string> pieces;
    for (const Value& item : *items_of(given[0])) pieces.push_back(to_text(item));
    return Value(join(pieces, text));
  }
  return input_error("str.{}() is not supported this way", name);
}

}  // namespace

Result<Value> call_container(TraceState& trace, const BoundMethod& method, Arguments arguments) {
  const std::vector<Value>& given = arguments.positional;
  const auto* text = method.self.get<std::string>();
  if (text && method.name == "format")
    return Value(KW_TRY(brace_format(*text, given, arguments.keywords)));
  if (text) return text_method(*text, method.name, given);
  if (const auto* dict = method.self.get<std::shared_ptr<Dict>>())
    return dict_method(**dict, method.name, arguments);
  const std::vector<Value>* items = items_of(method.self);
  const auto* list = method.self.get<std::shared_ptr<List>>();
  if (items && !given.empty() && (method.name == "index" || method.name == "count"))
    return find_in(*items, method.name, given[0]);
  if (items && method.name == "numel") {  // torch.Size
    Value total = Dim(1);
    for (const Value& item : *items) total = KW_TRY(binary(trace, "Mult", total, item));
    return total;
  }
  if (list && method.name == "sort") {
    const std::vector<std::pair<std::string, Value>> keywords = arguments.keywords;
    const Value sorted = KW_TRY(builtin_sorted(trace, {{method.self}, keywords}));
    (*list)->items = std::vector<Value>(*items_of(sorted));
    return Value();
  }
  if (!list)
    return input_error("'{}' object has no method '{}'", type_name(method.self), method.name);
  std::vector<Value> rest;
  if (method.name == "extend" && given.size() == 1) rest = KW_TRY(iterate(trace, given[0]));
  return list_method(**list, method.name, given, rest);
}

}  // namespace kw::frontend
