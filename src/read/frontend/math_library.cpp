// References compute constants with Python's math module, such as math.sqrt(head_dim). The result
// must be the one that Python gives, because it becomes a constant of the graph. The functions call
// the C library, as CPython does, and a non-finite result of finite input is reported as a domain
// error. Results keep how they follow from extents and runtime scalars where plans have the
// function. The alternative, a value for one shape only, would be another program at other shapes.
// ceil, floor and trunc of an int or of a fraction of an extent are extents.
#include "frontend/math_library.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/text.h"
#include "frontend/numbers.h"
#include "frontend/refusals.h"

namespace kw::frontend {
namespace {

// std::hypot is avoided because its symbol needs GLIBC 2.35.
double hypotenuse(double a, double b) {
  const double large = std::fmax(std::fabs(a), std::fabs(b));
  if (std::isinf(a) || std::isinf(b) || large == 0) return large;
  const double ratio = std::fmin(std::fabs(a), std::fabs(b)) / large;
  return std::isnan(a) || std::isnan(b) ? NAN : large * std::sqrt(1 + ratio * ratio);
}

using graph::Dim;

using Unary = double (*)(double);
using Binary = double (*)(double, double);

const std::map<std::string, Unary>& unary_functions() {
  static const std::map<std::string, Unary> kFunctions = {
      {"sqrt", std::sqrt},   {"exp", std::exp},      {"exp2", std::exp2},     {"log2", std::log2},
      {"log10", std::log10}, {"log1p", std::log1p},  {"expm1", std::expm1},   {"sin", std::sin},
      {"cos", std::cos},     {"tan", std::tan},      {"asin", std::asin},     {"acos", std::acos},
      {"atan", std::atan},   {"sinh", std::sinh},    {"cosh", std::cosh},     {"tanh", std::tanh},
      {"asinh", std::asinh}, {"acosh", std::acosh},  {"atanh", std::atanh},   {"erf", std::erf},
      {"erfc", std::erfc},   {"gamma", std::tgamma}, {"lgamma", std::lgamma}, {"fabs", std::fabs},
      {"cbrt", std::cbrt},   {"log", std::log}};
  return kFunctions;
}

const std::map<std::string, Binary>& binary_functions() {
  static const std::map<std::string, Binary> kFunctions = {{"pow", std::pow},
                                                           {"atan2", std::atan2},
                                                           {"fmod", std::fmod},
                                                           {"hypot", hypotenuse},
                                                           {"copysign", std::copysign}};
  return kFunctions;
}

Result<Value> checked(double result, bool finite_input) {
  if (finite_input && !std::isfinite(result)) return input_error("math domain error");
  return Value(result);
}

Result<Value> to_integer(const std::string& name, const Value& value, double number) {
  if (const auto dim = as_dim(value)) return Value(*dim);
  if (const auto dim = whole_part(value, name == "ceil")) return Value(*dim);
  as_number(value);  // decides an int: scalars are constants
  const double whole = name == "ceil"    ? std::ceil(number)
                       : name == "floor" ? std::floor(number)
                                         : std::trunc(number);
  if (!(std::abs(whole) < 9.2e18))
    return input_error("cannot convert float {} to an integer", number);
  return Value(Dim(static_cast<int64_t>(whole)));
}

Result<Value> of_ints(const std::string& name, const std::vector<Value>& arguments) {
  std::vector<int64_t> values;
  for (const Value& one : arguments) {
    const auto dim = as_dim(one);
    if (!dim) return input_error("math.{}() needs ints, not {}", name, type_name(one));
    values.push_back(dim->value());
  }
  if (name == "gcd") {
    int64_t result = 0;
    for (const int64_t value : values) result = std::gcd(result, value);
    return Value(Dim(result));
  }
  if (values.size() != 1 || values[0] < 0)
    return input_error("math.{}() needs one int, 0 or more", name);
  if (name == "isqrt")
    return Value(Dim(static_cast<int64_t>(std::sqrt(static_cast<long double>(values[0])))));
  if (values[0] > 20) return input_error("an integer of the reference does not fit 64 bits");
  int64_t product = 1;
  for (int64_t i = 2; i <= values[0]; ++i) product *= i;
  return Value(Dim(product));
}

Result<Value> product_of(const Value& items) {
  const std::vector<Value>* list = items_of(items);
  if (!list) return input_error("'{}' object is not iterable", type_name(items));
  graph::Builder unused;
  Value total = Dim(1);
  for (const Value& item : *list) total = KW_TRY(arithmetic(unused, "Mult", total, item));
  return total;
}

Result<Value> of_numbers(const std::string& name, const std::vector<Value>& arguments,
                         const std::vector<double>& numbers) {
  const bool finite =
      std::all_of(numbers.begin(), numbers.end(), [](double one) { return std::isfinite(one); });
  const bool two = numbers.size() == 2;
  if (name == "log" && two) return checked(std::log(numbers[0]) / std::log(numbers[1]), finite);
  const auto binary = binary_functions().find(name);
  if (binary != binary_functions().end() && two)
    return checked(binary->second(numbers[0], numbers[1]), finite);
  const auto unary = unary_functions().find(name);
  if (unary != unary_functions().end() && numbers.size() == 1)
    return checked(unary->second(numbers[0]), finite);
  if (numbers.size() == 1 && (name == "ceil" || name == "floor" || name == "trunc"))
    return to_integer(name, arguments[0], numbers[0]);
  if (name.starts_with("is")) as_number(arguments[0]);
  if (numbers.size() == 1 && name == "isnan") return Value(std::isnan(numbers[0]));
  if (numbers.size() == 1 && name == "isinf") return Value(std::isinf(numbers[0]));
  if (numbers.size() == 1 && name == "isfinite") return Value(finite);
  if (numbers.size() == 1 && name == "degrees") return Value(numbers[0] * 180 / M_PI);
  if (numbers.size() == 1 && name == "radians") return Value(numbers[0] * M_PI / 180);
  std::vector<std::string> known = {"ceil", "floor", "trunc", "isnan", "isinf", "gcd", "prod"};
  for (const auto& [one, function] : unary_functions()) known.push_back(one);
  for (const auto& [one, function] : binary_functions()) known.push_back(one);
  return input_error("math.{}() with {} argument{} is not supported{}", name, numbers.size(),
                     numbers.size() == 1 ? "" : "s", did_you_mean(name, known));
}

}  // namespace

Result<Value> call_math(graph::Builder& graph, const std::string& name,
                        const std::vector<Value>& arguments) {
  if (name == "prod" && arguments.size() == 1) return product_of(arguments[0]);
  if (name == "gcd" || name == "isqrt" || name == "factorial") return of_ints(name, arguments);
  std::vector<double> numbers;
  for (const Value& one : arguments) {
    if (one.get<Tensor>())
      return input_error(
          "math.{}() of a tensor: its value is known only at run time\ntorch.{} takes tensors, {}",
          name, name, kWayOut);
    const auto number = as_symbolic(one);
    if (!number) return input_error("math.{}() needs numbers, not {}", name, type_name(one));
    numbers.push_back(number->value);
  }
  if (name == "log" && arguments.size() == 2) {
    const Value top = KW_TRY(call_math(graph, "log", {arguments[0]}));
    const Value bottom = KW_TRY(call_math(graph, "log", {arguments[1]}));
    return arithmetic(graph, "Div", top, bottom);
  }
  const Value result = KW_TRY(of_numbers(name, arguments, numbers));
  const auto* whole = result.get<Dim>();
  const bool decides = result.get<bool>() || (whole && whole->is_constant());
  if (decides) {
    for (const Value& one : arguments) finalize(graph, one);
  }
  if (const auto* number = result.get<Float>(); number && !number->origin()) {
    const std::string known = name == "fabs" ? "abs" : name;
    if (const auto kept = symbolic_call(known, arguments, number->shown())) return *kept;
    for (const Value& one : arguments) finalize(graph, one);
  }
  return result;
}

Result<Value> round_number(graph::Builder& graph, const Value& value, const Value& digits) {
  if (const auto dim = as_dim(value)) return Value(*dim);
  finalize(graph, value);
  const auto* number = value.get<Float>();
  if (!number) return input_error("round() needs a number, not {}", type_name(value));
  if (const auto places = as_dim(digits)) {
    const double scale = std::pow(10.0, static_cast<double>(places->value()));
    return Value(std::nearbyint(*number * scale) / scale);
  }
  if (!(std::abs(*number) < 9.2e18))
    return input_error("cannot convert float {} to an integer", number->shown());
  return Value(Dim(static_cast<int64_t>(std::nearbyint(*number))));
}

}  // namespace kw::frontend
