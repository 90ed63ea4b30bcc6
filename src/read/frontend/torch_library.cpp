// Functions of libraries that are not ops: torch.device, nn.Parameter, torch.finfo,
// functools.reduce, and settings such as torch.set_default_dtype. call_library tries each group in
// a fixed order and calls an op row last. Settings change the tracer, so they cannot be rows,
// which only make nodes. What is easier in Python is in python/library (library_rows.h). A call
// that cannot change a value is accepted; autocast is refused, because it changes dtypes that the
// file does not show. Other modules than torch, math and a few of the standard library are unknown.
#include "frontend/torch_library.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "frontend/builtins.h"
#include "frontend/call.h"
#include "frontend/cell.h"
#include "frontend/classes.h"
#include "frontend/expressions.h"
#include "frontend/functions.h"
#include "frontend/library_rows.h"
#include "frontend/math_library.h"
#include "frontend/modules.h"
#include "frontend/names.h"
#include "frontend/numbers.h"
#include "frontend/refusals.h"
#include "frontend/statements.h"
#include "frontend/tensors.h"

namespace kw::frontend {

using graph::Dim;
using tensor::DType;

namespace {

bool is_definition(const Value& value) {
  return value.get<std::shared_ptr<Function>>() || value.get<std::shared_ptr<Class>>() ||
         value.get<std::shared_ptr<Object>>() || value.get<std::shared_ptr<BoundMethod>>() ||
         value.get<Library>();
}

/// torch.no_grad() and torch.inference_mode() switch gradients off, unless mode=False is given.
Result<const char*> context_of(const std::string& name, const Arguments& arguments) {
  if (name == kNoGradient || name == "torch.no_grad" || name == "torch.autograd.no_grad")
    return kNoGradient;
  if (name == kGradient || name == "torch.enable_grad" || name == "torch.autograd.enable_grad")
    return kGradient;
  const bool switched = name == "torch.set_grad_enabled" || name == "torch.inference_mode";
  if (!switched) return kContext;
  std::optional<Value> mode;
  if (!arguments.positional.empty()) mode = arguments.positional[0];
  for (const auto& [key, value] : arguments.keywords) {
    if (key == "mode") mode = value;
  }
  if (mode && is_definition(*mode)) mode.reset();
  if (mode && !mode->get<bool>())
    return input_error("{}() needs True or False, not {}", name, type_name(*mode));
  const bool on = !mode || *mode->get<bool>();
  return on == (name == "torch.set_grad_enabled") ? kGradient : kNoGradient;
}

/// A function that is decorated with one of these contexts.
Value with_gradient(const Value& given, std::optional<bool> gradient) {
  const auto* function = given.get<std::shared_ptr<Function>>();
  if (!function || !gradient) return given;
  auto marked = std::make_shared<Function>(**function);
  marked->gradient = gradient;
  return Value(std::move(marked));
}

bool is_autocast(const std::string& name) {
  return name == "torch.autocast" || name.ends_with(".autocast");
}

struct FloatLimits {
  double max, tiny, eps;
};

FloatLimits limits_of(DType dtype) {
  switch (dtype) {
    case DType::Fp64:
      return {std::numeric_limits<double>::max(), std::numeric_limits<double>::min(),
              std::numeric_limits<double>::epsilon()};
    case DType::Fp16:
      return {65504.0, std::ldexp(1.0, -14), std::ldexp(1.0, -10)};
    case DType::Bf16:
      return {std::ldexp(2.0 - std::ldexp(1.0, -7), 127), std::ldexp(1.0, -126),
              std::ldexp(1.0, -7)};
    case DType::Fp8e4m3:
      return {448.0, std::ldexp(1.0, -6), 0.125};
    case DType::Fp8e5m2:
      return {57344.0, std::ldexp(1.0, -14), 0.25};
    case DType::E8m0:
      return {std::ldexp(1.0, 127), std::ldexp(1.0, -127), 1.0};
    default:
      return {std::numeric_limits<float>::max(), std::numeric_limits<float>::min(),
              std::numeric_limits<float>::epsilon()};
  }
}

void fill_finfo(Object& info, DType dtype) {
  const FloatLimits limits = limits_of(dtype);
  info.set("max", limits.max);
  info.set("min", dtype == DType::E8m0 ? limits.tiny : -limits.max);
  info.set("tiny", limits.tiny);
  info.set("smallest_normal", limits.tiny);
  info.set("eps", limits.eps);
  info.set("bits", Dim(8 * tensor::dtype_size(dtype)));
}

void fill_iinfo(Object& info, DType dtype) {
  const int bits = 8 * tensor::dtype_size(dtype);
  const bool is_signed = tensor::is_signed_int(dtype);
  const int value_bits = is_signed ? bits - 1 : std::min(bits, 63);
  const int64_t max = value_bits >= 63 ? INT64_MAX : (int64_t{1} << value_bits) - 1;
  info.set("max", Dim(max));
  info.set("min", Dim(is_signed ? -max - 1 : 0));
  info.set("bits", Dim(bits));
}

Result<Value> number_limits(TraceState& trace, const std::string& name,
                            const Arguments& arguments) {
  DType dtype = trace.default_dtype;
  if (!arguments.positional.empty()) {
    const auto* given = arguments.positional[0].get<DTypeValue>();
    if (!given) return input_error("{}() needs a dtype", name);
    dtype = given->dtype;
  }
  Value info = KW_TRY(make_plain_object(trace, name));
  const bool floats = name == "torch.finfo";
  if (tensor::is_float(dtype) != floats)
    return input_error("{}() does not take {}", name, tensor::dtype_name(dtype));
  Object& object = **info.get<std::shared_ptr<Object>>();
  floats ? fill_finfo(object, dtype) : fill_iinfo(object, dtype);
  return info;
}

std::optional<double> fill_of(TraceState& trace, const std::string& name,
                              const Arguments& arguments) {
  if (name.ends_with(".zeros_")) return 0;
  if (name.ends_with(".ones_")) return 1;
  if (!name.ends_with(".constant_")) return std::nullopt;
  for (const auto& [key, value] : arguments.keywords) {
    if (key == "val") return number_given(trace, value);
  }
  return arguments.positional.size() > 1 ? number_given(trace, arguments.positional[1])
                                         : std::nullopt;
}

Result<std::optional<Value>> call_setting(TraceState& trace, const std::string& name,
                                          const Arguments& arguments) {
  const Value given = arguments.positional.empty() ? Value() : arguments.positional[0];
  if (name == "torch.set_default_dtype") {
    const auto* dtype = given.get<DTypeValue>();
    if (!dtype || !tensor::is_float(dtype->dtype))
      return input_error("set_default_dtype() needs a floating-point dtype");
    trace.default_dtype = dtype->dtype;
    return std::optional(Value());
  }
  if (name == "torch.get_default_dtype")
    return std::optional(Value(DTypeValue{trace.default_dtype}));
  if (name == "torch.set_float32_matmul_precision") {
    const auto* level = given.get<std::string>();
    trace.allow_tf32 = level && *level != "highest";
    return std::optional(Value());
  }
  if (name.starts_with("torch.nn.init.")) {
    if (const auto* tensor = given.get<Tensor>())
      note_fill(trace, *tensor, fill_of(trace, name, arguments));
    return std::optional(given);
  }
  if (is_ignored_call(name)) return std::optional(Value());
  if (name == "torch.device") return std::optional(given.is_none() ? Value("cuda") : given);
  if (is_autocast(name)) {
    const auto enabled = std::find_if(arguments.keywords.begin(), arguments.keywords.end(),
                                      [](const auto& one) { return one.first == "enabled"; });
    const bool off = enabled != arguments.keywords.end() && enabled->second.get<bool>() &&
                     !*enabled->second.get<bool>();
    if (off) return std::optional(Value(Library{kContext}));
    return input_error("autocast changes dtypes implicitly\nwrite the casts, {}", kWayOut);
  }
  const bool is_context = name == kContext || gradient_in(Value(Library{name}));
  if (is_context || is_harmless_context(name)) {
    const bool decorates =
        arguments.positional.size() == 1 && is_definition(given) && name != "functools.wraps";
    const char* const context = KW_TRY(context_of(name, arguments));
    // Called as a statement, it holds from here on. At file level it is ignored: it is meant for
    // the code that uses the file.
    if (name == "torch.set_grad_enabled" && !trace.frames.empty())
      trace.no_gradient = std::string_view(context) == kNoGradient;
    if (!decorates) return std::optional(Value(Library{context}));
    return std::optional(with_gradient(given, gradient_in(Value(Library{context}))));
  }
  if (name.starts_with("torch.cuda.") || name.starts_with("torch.backends.")) {
    if (name.ends_with("is_available") || name.ends_with("_supported"))
      return std::optional(Value(true));
    if (name.ends_with("device_count")) return std::optional(Value(Dim(1)));
    if (name.ends_with("current_device")) return std::optional(Value(Dim(0)));
  }
  return std::optional<Value>();
}

Result<std::optional<Value>> call_dataclasses(TraceState& trace, const std::string& name,
                                              const Arguments& arguments) {
  const std::vector<Value>& given = arguments.positional;
  if (name == "dataclasses.dataclass") {
    if (given.empty()) return std::optional(Value(Library{name}));
    const auto* cls = given[0].get<std::shared_ptr<Class>>();
    if (!cls) return input_error("dataclass() needs a class");
    (*cls)->kind = ClassKind::Data;
    return std::optional(given[0]);
  }
  if (name == "dataclasses.field") {
    for (const auto& [key, value] : arguments.keywords) {
      if (key == "default") return std::optional(value);
      if (key != "default_factory") continue;
      Value field = KW_TRY(make_plain_object(trace, kFieldMaker));
      (*field.get<std::shared_ptr<Object>>())->set("default_factory", value);
      return std::optional(std::move(field));
    }
    return std::optional(Value());
  }
  return std::optional<Value>();
}

/// copy.deepcopy and copy.copy; not set for values that would need a real copy.
Result<std::optional<Value>> copy_value(TraceState& trace, const std::string& name,
                                        const Value& given) {
  const auto* object = given.get<std::shared_ptr<Object>>();
  if (object && ((*object)->cls->kind != ClassKind::Module || name == "copy.copy"))
    return std::optional<Value>();
  if (object) {
    std::map<const void*, Value> known;
    Value copied = KW_TRY(copy_module(trace, *object, known));
    return std::optional(std::move(copied));
  }
  if (const auto* tensor = given.get<Tensor>())
    return std::optional(Value(new_tensor(KW_TRY(node_of(trace, *tensor)))));
  const bool mutable_value =
      given.get<std::shared_ptr<List>>() || given.get<std::shared_ptr<Dict>>();
  return mutable_value ? std::optional<Value>() : std::optional(given);
}

/// functools.reduce and itertools.
Result<std::optional<Value>> call_iteration(TraceState& trace, const std::string& name,
                                            const std::vector<Value>& given) {
  if (name == "functools.reduce" && given.size() >= 2) {
    std::vector<Value> items = KW_TRY(iterate(trace, given[1]));
    if (given.size() > 2) items.insert(items.begin(), given[2]);
    if (items.empty()) return input_error("reduce() of nothing");
    Value total = items[0];
    for (size_t i = 1; i < items.size(); ++i)
      total = KW_TRY(invoke(trace, given[0], {{total, items[i]}, {}}));
    return std::optional(std::move(total));
  }
  if (name == "itertools.repeat" && given.size() == 2) {
    const auto* times = given[1].get<Dim>();
    if (!times) return input_error("repeat() needs a number of times");
    const auto count = static_cast<size_t>(std::clamp<int64_t>(times->value(), 0, kMaxItems));
    return std::optional(make_list(std::vector<Value>(count, given[0])));
  }
  if (name == "itertools.chain" || name == "itertools.chain.from_iterable") {
    std::vector<Value> all;
    const bool nested = name != "itertools.chain" && given.size() == 1;
    const std::vector<Value> lists = nested ? KW_TRY(iterate(trace, given[0])) : given;
    for (const Value& one : lists) {
      for (Value& item : KW_TRY(iterate(trace, one))) all.push_back(std::move(item));
    }
    return std::optional(make_list(std::move(all)));
  }
  return std::optional<Value>();
}

// functools, dataclasses, collections, typing, copy, itertools, operator.
Result<std::optional<Value>> call_standard(TraceState& trace, const std::string& name,
                                           const Arguments& arguments) {
  const std::vector<Value>& given = arguments.positional;
  if (name.starts_with("dataclasses.")) return call_dataclasses(trace, name, arguments);
  if (name == "collections.OrderedDict" || name == "collections.defaultdict") {
    Value dict = KW_TRY(builtin_sequence(trace, "dict", arguments));
    return std::optional(std::move(dict));
  }
  if ((name == "copy.deepcopy" || name == "copy.copy") && given.size() == 1)
    return copy_value(trace, name, given[0]);
  if (name == "typing.cast" && given.size() == 2) return std::optional(given[1]);
  if (name == "functools.reduce" || name.starts_with("itertools."))
    return call_iteration(trace, name, given);
  if (name.starts_with("operator.") && given.size() == 2) {
    static const std::map<std::string, const char*> kOperators = {
        {"add", "Add"}, {"sub", "Sub"},           {"mul", "Mult"},      {"truediv", "Div"},
        {"pow", "Pow"}, {"floordiv", "FloorDiv"}, {"matmul", "MatMult"}};
    const auto found = kOperators.find(name.substr(9));
    if (found == kOperators.end()) return std::optional<Value>();
    Value result = KW_TRY(binary(trace, found->second, given[0], given[1]));
    return std::optional(std::move(result));
  }
  return std::optional<Value>();
}

Result<std::optional<Value>> call_torch(TraceState& trace, const std::string& name,
                                        Arguments& arguments) {
  const std::vector<Value>& given = arguments.positional;
  if (name == "torch.finfo" || name == "torch.iinfo") {
    Value info = KW_TRY(number_limits(trace, name, arguments));
    return std::optional(std::move(info));
  }
  if (name == "torch.nn.Parameter" || name == "torch.nn.Buffer") {
    Value value = given.empty() ? Value() : given[0];
    for (const auto& [keyword, one] : arguments.keywords) {
      if (keyword == "data") value = one;
    }
    if (name == "torch.nn.Buffer") return std::optional(std::move(value));
    Value parameter = KW_TRY(make_parameter(trace, value));
    return std::optional(std::move(parameter));
  }
  if (name == "torch.Size" && given.size() == 1) {
    std::vector<Value> extents = KW_TRY(iterate(trace, given[0]));
    return std::optional(make_tuple(std::move(extents)));
  }
  if (name == "torch.is_tensor" && given.size() == 1)
    return std::optional(Value(given[0].get<Tensor>() != nullptr));
  const auto* tensor = given.empty() ? nullptr : given[0].get<Tensor>();
  const bool plain =
      name == "torch.numel" || name == "torch.is_floating_point" || name == "torch.is_complex";
  if (plain && tensor) {
    Value value = KW_TRY(call_tensor_method(trace, *tensor, name.substr(6), {}));
    return std::optional(std::move(value));
  }
  if (name == "torch.utils.checkpoint.checkpoint" && !given.empty()) {
    Arguments inner = arguments;
    const Value function = given[0];
    inner.positional.erase(inner.positional.begin());
    std::erase_if(inner.keywords, [](const auto& one) {
      return one.first == "use_reentrant" || one.first == "preserve_rng_state";
    });
    Value value = KW_TRY(invoke(trace, function, std::move(inner)));
    return std::optional(std::move(value));
  }
  return std::optional<Value>();
}

Error unknown_library_call(const std::string& name) {
  const std::string root = name.substr(0, name.find('.'));
  static constexpr const char* kDataDependent[] = {
      "torch.nonzero",  "torch.unique",  "torch.masked_select", "torch.unique_consecutive",
      "torch.argwhere", "torch.bincount"};
  for (const char* one : kDataDependent) {
    if (name == one)
      return input_error(
          "{}: the shape of the result depends on values\ntorch.where keeps the shape, {}", name,
          kWayOut);
  }
  if (name == "torch.autograd.grad" || name == "torch.autograd.backward")
    return input_error(own_task(name));
  if (root == "torch" || root == "F" || root == "Tensor")
    return input_error(unknown_function(name));
  return input_error(
      "{}() is not known: of the modules a reference imports, only torch and math are "
      "evaluated\nwrite it with torch, {}",
      name, kWayOut);
}

}  // namespace

Result<Value> call_library(TraceState& trace, const std::string& name, Arguments arguments) {
  if (name.starts_with("builtins.") && name != "builtins.print")
    return call_builtin(trace, name.substr(9), std::move(arguments));
  const std::optional<Value> setting = KW_TRY(call_setting(trace, name, arguments));
  if (setting) return *setting;
  if (name.starts_with("math."))
    return call_math(trace.graph, name.substr(5), arguments.positional);
  const bool numbers =
      std::all_of(arguments.positional.begin(), arguments.positional.end(), is_number);
  if (name.starts_with("numpy.") && numbers && name.find('.', 6) == std::string::npos)
    return call_math(trace.graph, name.substr(6), arguments.positional);
  const std::optional<Value> standard = KW_TRY(call_standard(trace, name, arguments));
  if (standard) return *standard;
  const std::optional<Value> special = KW_TRY(call_torch(trace, name, arguments));
  if (special) return *special;
  const std::optional<Value> ours = KW_TRY(library_definition(trace, name));
  if (ours) return invoke(trace, *ours, std::move(arguments));
  if (is_random(name)) return random_tensor(trace, name, std::move(arguments));
  if (name.starts_with("torch.nn.")) {
    const std::string word = name.substr(9);
    if (is_library_module(word)) return make_library_module(trace, word, std::move(arguments));
    if (!word.empty() && word[0] >= 'A' && word[0] <= 'Z') return input_error(unknown_module(word));
  }
  if (name.starts_with("Tensor.") && !arguments.positional.empty()) {
    const auto* self = arguments.positional[0].get<Tensor>();
    const Value kept = arguments.positional[0];
    arguments.positional.erase(arguments.positional.begin());
    if (self)
      return call_tensor_method(trace, *kept.get<Tensor>(), name.substr(7), std::move(arguments));
  }
  if (!find_op(name)) return unknown_library_call(name);
  return call_row(trace, name, std::move(arguments));
}

}  // namespace kw::frontend
