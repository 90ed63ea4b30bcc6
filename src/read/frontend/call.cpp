// Binds the arguments of a call to a row's signature, as Python would, and reads them by type.
// Signatures are text as in PyTorch's documentation, with literals as defaults. A table of parsed
// parameters would be faster but harder to compare with the documentation. Parsing the text again
// at every call costs microseconds. Keywords that cannot change a value (device, layout) are
// accepted and ignored.
#include "frontend/call.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "core/contains.h"
#include "core/text.h"
#include "frontend/cell.h"
#include "frontend/numbers.h"

namespace kw::frontend {
namespace {

using graph::Dim;
using graph::NodeId;

struct FormalParameter {
  std::string name;
  bool keyword_only = false;
  bool rest = false;  // "*sizes"
  bool required = true;
  std::string type;  // its annotation
  Value fallback;
};

Value literal(std::string_view text) {
  if (text == "None") return None{};
  if (text == "True") return true;
  if (text == "False") return false;
  if (text == "()") return make_tuple({});
  if (text == "inf") return INFINITY;
  if (text == "-inf") return -INFINITY;
  if (const auto integer = parse_int(text)) return Dim(*integer);
  if (const auto number = parse_double(text)) return *number;
  KW_CHECK(text.size() >= 2 && (text.front() == '\'' || text.front() == '"'),
           fmt::format("'{}' is not a default a signature may have", text));
  return std::string(text.substr(1, text.size() - 2));
}

std::vector<FormalParameter> parse_signature(std::string_view signature) {
  std::vector<FormalParameter> parameters;
  bool keyword_only = false;
  if (trim(signature).empty()) return parameters;
  for (const std::string& piece : split(signature, ',')) {
    std::string_view text = trim(piece);
    if (text == "*") {
      keyword_only = true;
      continue;
    }
    FormalParameter parameter;
    parameter.keyword_only = keyword_only;
    if (text.starts_with("*")) {
      parameter.rest = true;
      keyword_only = true;
      text.remove_prefix(1);
    }
    const size_t equals = text.find('=');
    const std::string_view head = trim(text.substr(0, equals));
    const size_t colon = head.find(':');
    parameter.name = head.substr(0, colon);
    if (colon != std::string_view::npos) parameter.type = trim(head.substr(colon + 1));
    parameter.required = equals == std::string_view::npos && !parameter.rest;
    if (equals != std::string_view::npos)
      parameter.fallback = literal(trim(text.substr(equals + 1)));
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

/// NumPy's names, which PyTorch accepts everywhere.
std::string_view alias_of(std::string_view keyword) {
  if (keyword == "axis") return "dim";
  if (keyword == "keepdims") return "keepdim";
  if (keyword == "self") return "input";
  return keyword;
}

/// Whether a keyword cannot change a value: it sets where or how a tensor is stored.
bool is_irrelevant(std::string_view keyword) {
  static constexpr std::string_view kNames[] = {"device",        "layout",        "pin_memory",
                                                "requires_grad", "memory_format", "non_blocking"};
  return contains(kNames, keyword);
}

std::string short_name(std::string_view function) {
  return std::string(function.substr(function.rfind('.') + 1));
}

using BoundArguments = std::vector<std::pair<std::string, Value>>;

bool is_bound(const BoundArguments& bound, std::string_view name) {
  return std::any_of(bound.begin(), bound.end(),
                     [&](const auto& one) { return one.first == name; });
}

Status bind_positional(const std::string& function, const std::vector<FormalParameter>& parameters,
                       std::vector<Value>& positional, BoundArguments& bound) {
  size_t next = 0, accepted = 0;
  for (const FormalParameter& parameter : parameters) {
    if (parameter.rest) {
      std::vector<Value> rest(positional.begin() + static_cast<std::ptrdiff_t>(next),
                              positional.end());
      if (rest.empty()) return Done{};
      const bool one_tuple = rest.size() == 1 && items_of(rest[0]);
      bound.emplace_back(parameter.name, one_tuple ? rest[0] : make_tuple(std::move(rest)));
      return Done{};
    }
    if (parameter.keyword_only) continue;
    ++accepted;
    if (next < positional.size()) bound.emplace_back(parameter.name, positional[next++]);
  }
  if (next < positional.size())
    return input_error("{}() takes {} positional argument{} but {} were given", function, accepted,
                       accepted == 1 ? "" : "s", positional.size());
  return Done{};
}

Status bind_keywords(const std::string& function, const std::vector<FormalParameter>& parameters,
                     const std::vector<std::pair<std::string, Value>>& keywords,
                     BoundArguments& bound) {
  std::vector<std::string> names;
  for (const FormalParameter& parameter : parameters) names.push_back(parameter.name);
  for (const auto& [keyword, value] : keywords) {
    auto known = std::find(names.begin(), names.end(), keyword);
    if (known == names.end()) known = std::find(names.begin(), names.end(), alias_of(keyword));
    if (known == names.end() && is_irrelevant(keyword)) continue;
    if (known == names.end())
      return input_error("{}() got an unexpected keyword argument '{}'{}", function, keyword,
                         did_you_mean(keyword, names));
    if (is_bound(bound, *known))
      return input_error("{}() got multiple values for argument '{}'", function, *known);
    bound.emplace_back(*known, value);
  }
  return Done{};
}

}  // namespace

Result<Call> Call::bind(graph::Builder& graph, std::string_view function,
                        std::string_view signature, std::vector<Value> positional,
                        std::vector<std::pair<std::string, Value>> keywords) {
  Call call;
  call.graph_ = &graph;
  call.function_ = short_name(function);
  const std::vector<FormalParameter> parameters = parse_signature(signature);
  KW_TRY(bind_positional(call.function_, parameters, positional, call.bound_));
  KW_TRY(bind_keywords(call.function_, parameters, keywords, call.bound_));
  for (auto& [name, value] : call.bound_) {
    value = KW_TRY(plain(graph, value));
    if (!value.is_none()) call.given_.push_back(name);
  }
  for (const FormalParameter& parameter : parameters) {
    if (is_bound(call.bound_, parameter.name)) continue;
    if (parameter.required)
      return input_error("{}() missing required argument '{}'", call.function_, parameter.name);
    call.bound_.emplace_back(parameter.name, parameter.rest ? make_tuple({}) : parameter.fallback);
  }
  return call;
}

const Value& Call::operator[](std::string_view name) const {
  for (const auto& [bound, value] : bound_) {
    if (bound == name) return value;
  }
  KW_CHECK(false, fmt::format("{}() has no parameter '{}' in its signature", function_, name));
  return bound_.front().second;
}

bool Call::given(std::string_view name) const { return contains(given_, name); }

namespace {

Error wrong_type(const Call& call, std::string_view name, const char* want) {
  return input_error("{}(): argument '{}' must be {}, not {}", call.function(), name, want,
                     type_name(call[name]));
}

/// A number that is unknown before the run cannot decide what is traced.
Error depends_on_data(const Call& call, std::string_view name, const char* want) {
  return input_error("{}(): argument '{}' must be {} known before the run, not a tensor's value",
                     call.function(), name, want);
}

std::optional<graph::Operand> operand_of(const Value& value) {
  if (const auto* tensor = value.get<Tensor>()) return graph::Operand::tensor(tensor->node);
  if (const auto* flag = value.get<bool>()) return graph::Operand::of_bool(*flag);
  if (const auto* integer = value.get<Dim>()) return graph::Operand::of(*integer);
  if (const auto* number = value.get<Float>())
    return number->is_int() ? graph::Operand::of_whole(number->number())
                            : graph::Operand::of(number->number());
  return std::nullopt;
}

}  // namespace

Result<NodeId> Call::tensor(std::string_view name) {
  if (const auto* found = (*this)[name].get<Tensor>()) return found->node;
  return wrong_type(*this, name, "Tensor");
}

Result<graph::Operand> Call::operand(std::string_view name) {
  if (const auto operand = operand_of((*this)[name])) return *operand;
  return wrong_type(*this, name, "Tensor or Number");
}

Result<std::vector<NodeId>> Call::tensors(std::string_view name) {
  const std::vector<Value>* items = items_of((*this)[name]);
  if (!items) return wrong_type(*this, name, "tuple of Tensors");
  std::vector<NodeId> nodes;
  for (const Value& item : *items) {
    const auto* found = item.get<Tensor>();
    if (!found)
      return input_error("{}(): expected Tensor as element {} in argument '{}', but got {}",
                         function_, nodes.size(), name, type_name(item));
    nodes.push_back(found->node);
  }
  return nodes;
}

Result<int64_t> Call::integer(std::string_view name) {
  const Dim value = KW_TRY(dim_value(name));
  return concrete(*graph_, value);
}

Result<std::optional<Dim>> Call::maybe_dim(std::string_view name) {
  if (!given(name)) return std::optional<Dim>{};
  return std::optional<Dim>(KW_TRY(dim_value(name)));
}

Result<Dim> Call::dim_value(std::string_view name) {
  if (const auto dim = as_dim((*this)[name])) return *dim;
  if ((*this)[name].get<Tensor>()) return depends_on_data(*this, name, "an int");
  return wrong_type(*this, name, "int");
}

Result<double> Call::number(std::string_view name) {
  const Value& value = (*this)[name];
  finalize(*graph_, value);
  if (const auto* number = value.get<Float>()) return static_cast<double>(*number);
  if (const auto dim = as_dim(value)) return static_cast<double>(dim->value());
  if (value.get<Tensor>()) return depends_on_data(*this, name, "a number");
  return wrong_type(*this, name, "Number");
}

Result<graph::Number> Call::symbolic(std::string_view name) {
  if (const auto number = as_symbolic((*this)[name])) return *number;
  KW_TRY(number(name));  // always an Error, which says what is wrong
  return graph::Number(0);
}

Result<Value> Call::number_value(std::string_view name) {
  if (is_number((*this)[name])) return (*this)[name];
  return Value(KW_TRY(number(name)));
}

Result<bool> Call::boolean(std::string_view name) {
  const Value& value = (*this)[name];
  if (const auto* flag = value.get<bool>()) return *flag;
  if (const auto* integer = value.get<Dim>()) return integer->value() != 0;
  if (value.get<Tensor>()) return depends_on_data(*this, name, "a bool");
  return wrong_type(*this, name, "bool");
}

Result<std::string> Call::text(std::string_view name) {
  if (const auto* text = (*this)[name].get<std::string>()) return *text;
  return wrong_type(*this, name, "str");
}

Result<std::optional<tensor::DType>> Call::dtype(std::string_view name) {
  const Value& value = (*this)[name];
  if (value.is_none()) return std::optional<tensor::DType>{};
  if (const auto* type = value.get<DTypeValue>()) return std::optional(type->dtype);
  const auto* library = value.get<Library>();
  if (library && library->name == "builtins.bool") return std::optional(tensor::DType::Bool);
  if (library && library->name == "builtins.int") return std::optional(tensor::DType::Int64);
  if (library && library->name == "builtins.float") return std::optional(tensor::DType::Fp64);
  if (library)
    return input_error(
        "{}(): {} is not a dtype that is known here\nfloat64, float32, float16, bfloat16, bool and "
        "integers are",
        function_, library->name);
  return wrong_type(*this, name, "torch.dtype");
}

Result<int> Call::dim(std::string_view name, NodeId x) {
  const int64_t value = KW_TRY(integer(name));
  return graph_->wrap_dim(value, x);
}

Result<std::vector<int>> Call::dims(std::string_view name, NodeId x) {
  const Value& value = (*this)[name];
  const std::vector<Value>* items = items_of(value);
  std::vector<int> result;
  if (value.is_none() || (items && items->empty())) {
    for (int i = 0; i < graph_->rank(x); ++i) result.push_back(i);
    return result;
  }
  if (!items) {
    result.push_back(KW_TRY(dim(name, x)));
    return result;
  }
  for (const Value& item : *items) {
    const auto wanted = as_dim(item);
    if (!wanted) return wrong_type(*this, name, "int or tuple of ints");
    const int wrapped = KW_TRY(graph_->wrap_dim(wanted->value(), x));
    if (contains(result, wrapped))
      return input_error("{}(): dim {} appears multiple times in argument '{}'", function_, wrapped,
                         name);
    result.push_back(wrapped);
  }
  std::sort(result.begin(), result.end());
  return result;
}

Result<graph::Shape> Call::sizes(std::string_view name) {
  const Value& value = (*this)[name];
  const std::vector<Value>* items = items_of(value);
  if (!items) return graph::Shape{KW_TRY(dim_value(name))};
  graph::Shape shape;
  for (const Value& item : *items) {
    const auto extent = as_dim(item);
    if (!extent && item.get<Tensor>()) return depends_on_data(*this, name, "ints");
    if (!extent)
      return input_error("{}(): argument '{}' must be a tuple of ints, but element {} is {}",
                         function_, name, shape.size(), type_name(item));
    shape.push_back(*extent);
  }
  return shape;
}

namespace {

Result<Value> typed_argument(Call& call, const FormalParameter& parameter) {
  const std::string& name = parameter.name;
  const Value& value = call[name];
  const bool missing = value.is_none() && !parameter.required && parameter.fallback.is_none();
  if (missing || parameter.type.empty()) return value;
  if (parameter.type == "int") return Value(KW_TRY(call.dim_value(name)));
  if (parameter.type == "float" && value.get<Float>()) return value;
  if (parameter.type == "float" && value.get<Dim>()) {
    graph::Builder unused;
    return arithmetic(unused, "Add", value, Value(0.0));
  }
  if (parameter.type == "float") return Value(KW_TRY(call.number(name)));
  if (parameter.type == "bool") return Value(KW_TRY(call.boolean(name)));
  if (parameter.type == "str") return Value(KW_TRY(call.text(name)));
  if (parameter.type == "Scalar") KW_TRY(call.operand(name));
  if (parameter.type == "Tensors") KW_TRY(call.tensors(name));
  if (parameter.type == "Scalar" || parameter.type == "Tensors") return value;
  const NodeId node = KW_TRY(call.tensor(name));
  const tensor::DType dtype = call.graph().dtype(node);
  if (parameter.type == "FloatTensor" && !tensor::is_float(dtype))
    return input_error("\"{}\" not implemented for '{}'", call.function(),
                       graph::torch_name(dtype));
  return value;
}

}  // namespace

Result<Arguments> Call::typed(std::string_view signature) {
  Arguments arguments;
  for (const FormalParameter& parameter : parse_signature(signature)) {
    if (!is_bound(bound_, parameter.name)) continue;
    Value value = KW_TRY(typed_argument(*this, parameter));
    if (parameter.rest)
      arguments.positional = *items_of(value);
    else
      arguments.keywords.emplace_back(parameter.name, std::move(value));
  }
  return arguments;
}

}  // namespace kw::frontend
