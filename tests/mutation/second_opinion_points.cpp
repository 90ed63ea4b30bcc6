// Pointwise ops. The problem: 66 functions, each with its own rules for NaN, infinities and zeros.
// Every function of floats is one row of a table, in the words of the C library. Rules that PyTorch
// has and C lacks (remainders, NaN in maxima) are functions above the tables. Comparisons look at
// `value` alone, which is exact for integers too. The oracle takes its formulas from
// src/model/ops/table.def; these rows are written without it.
#include <cmath>
#include <map>

#include "second_opinion_steps.h"

namespace kw::mutation {

namespace {

constexpr Real kNotANumber = std::numeric_limits<Real>::quiet_NaN();

Real sigmoid_of(Real x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  return std::exp(x) / (1 + std::exp(x));
}

/// Has the sign of the divisor, like Python's %.
Real floored_remainder(Real x, Real z) {
  const Real rest = std::fmod(x, z);
  const bool crosses = rest != 0 && std::signbit(rest) != std::signbit(z);
  return crosses ? rest + z : rest;
}

/// The exact quotient is near a whole number once the remainder is taken away.
Real floored_quotient(Real x, Real z) {
  if (z == 0) return x / z;
  const Real rest = std::fmod(x, z);
  Real quotient = (x - rest) / z;
  if (rest != 0 && std::signbit(rest) != std::signbit(z)) quotient -= 1;
  if (quotient == 0) return std::copysign(Real(0), x / z);
  const Real whole = std::floor(quotient);
  return quotient - whole > 0.5L ? whole + 1 : whole;
}

Real maximum_of(Real x, Real z) {
  if (std::isnan(x) || std::isnan(z)) return kNotANumber;
  return x > z ? x : z;
}

Real minimum_of(Real x, Real z) {
  if (std::isnan(x) || std::isnan(z)) return kNotANumber;
  return x < z ? x : z;
}

using OfOne = Real (*)(Real);
using OfTwo = Real (*)(Real, Real);

const std::map<Op, OfOne>& functions_of_one() {
  static const std::map<Op, OfOne> kTable = {
      {Op::Neg, [](Real x) { return -x; }},
      {Op::Abs, [](Real x) { return std::fabs(x); }},
      {Op::Sign, [](Real x) { return x > 0   ? Real(1)
                                     : x < 0 ? Real(-1)
                                             : Real(0); }},
      {Op::Floor, [](Real x) { return std::floor(x); }},
      {Op::Ceil, [](Real x) { return std::ceil(x); }},
      {Op::Trunc, [](Real x) { return std::trunc(x); }},
      {Op::Round, [](Real x) { return std::nearbyint(x); }},
      {Op::Sqrt, [](Real x) { return std::sqrt(x); }},
      {Op::Rsqrt, [](Real x) { return 1 / std::sqrt(x); }},
      {Op::Reciprocal, [](Real x) { return 1 / x; }},
      {Op::Exp, [](Real x) { return std::exp(x); }},
      {Op::Exp2, [](Real x) { return std::exp2(x); }},
      {Op::Expm1, [](Real x) { return std::expm1(x); }},
      {Op::Log, [](Real x) { return std::log(x); }},
      {Op::Log2, [](Real x) { return std::log2(x); }},
      {Op::Log10, [](Real x) { return std::log10(x); }},
      {Op::Log1p, [](Real x) { return std::log1p(x); }},
      {Op::Sin, [](Real x) { return std::sin(x); }},
      {Op::Cos, [](Real x) { return std::cos(x); }},
      {Op::Tan, [](Real x) { return std::tan(x); }},
      {Op::Asin, [](Real x) { return std::asin(x); }},
      {Op::Acos, [](Real x) { return std::acos(x); }},
      {Op::Atan, [](Real x) { return std::atan(x); }},
      {Op::Sinh, [](Real x) { return std::sinh(x); }},
      {Op::Cosh, [](Real x) { return std::cosh(x); }},
      {Op::Tanh, [](Real x) { return std::tanh(x); }},
      {Op::Asinh, [](Real x) { return std::asinh(x); }},
      {Op::Acosh, [](Real x) { return std::acosh(x); }},
      {Op::Atanh, [](Real x) { return std::atanh(x); }},
      {Op::Erf, [](Real x) { return std::erf(x); }},
      {Op::Erfc, [](Real x) { return std::erfc(x); }},
      {Op::Erfcx, scaled_erfc},
      {Op::Erfinv, inverse_erf},
      {Op::Lgamma, [](Real x) { return std::lgamma(x); }},
      {Op::Digamma, psi},
      {Op::Sigmoid, sigmoid_of},
  };
  return kTable;
}

const std::map<Op, OfTwo>& functions_of_two() {
  static const std::map<Op, OfTwo> kTable = {
      {Op::Add, [](Real x, Real z) { return x + z; }},
      {Op::Sub, [](Real x, Real z) { return x - z; }},
      {Op::Mul, [](Real x, Real z) { return x * z; }},
      {Op::Div, [](Real x, Real z) { return x / z; }},
      {Op::Pow, [](Real x, Real z) { return std::pow(x, z); }},
      {Op::Atan2, [](Real x, Real z) { return std::atan2(x, z); }},
      {Op::Fmod, [](Real x, Real z) { return std::fmod(x, z); }},
      {Op::Remainder, floored_remainder},
      {Op::FloorDiv, floored_quotient},
      {Op::Copysign, [](Real x, Real z) { return std::copysign(x, z); }},
      {Op::Hypot, [](Real x, Real z) { return std::hypot(x, z); }},
      {Op::Maximum, maximum_of},
      {Op::Minimum, minimum_of},
      {Op::Fmax, [](Real x, Real z) { return std::fmax(x, z); }},
      {Op::Fmin, [](Real x, Real z) { return std::fmin(x, z); }},
  };
  return kTable;
}

const std::map<Op, bool (*)(Real, Real)>& comparisons() {
  static const std::map<Op, bool (*)(Real, Real)> kTable = {
      {Op::Eq, [](Real x, Real z) { return x == z; }},
      {Op::Ne, [](Real x, Real z) { return x != z; }},
      {Op::Lt, [](Real x, Real z) { return x < z; }},
      {Op::Le, [](Real x, Real z) { return x <= z; }},
      {Op::Gt, [](Real x, Real z) { return x > z; }},
      {Op::Ge, [](Real x, Real z) { return x >= z; }},
      {Op::IsNan, [](Real x, Real) { return std::isnan(x); }},
      {Op::IsInf, [](Real x, Real) { return std::isinf(x); }},
  };
  return kTable;
}

WideTensor cast_elements(const Step& step) {
  WideTensor out = zeros_of(step);
  const bool from_integers = is_whole(step.x().dtype);
  for (size_t k = 0; k < out.value.size(); ++k) {
    if (!is_whole(out.dtype)) {
      out.value[k] = step.x().value[k];
    } else {
      set_integer(out, static_cast<int64_t>(k),
                  from_integers ? step.x().integers[k] : whole_of(out.dtype, step.x().value[k]));
    }
  }
  return out;
}

WideTensor chosen_elements(const Step& step) {
  WideTensor out = zeros_of(step);
  for (int64_t k = 0; k < count_of(out.shape); ++k) {
    const bool first = step.x().integers[static_cast<size_t>(k)] != 0;
    copy_element(first ? *step.in[1] : *step.in[2], k, out, k);
  }
  return out;
}

WideTensor compared_elements(const Step& step, bool (*holds)(Real, Real)) {
  WideTensor out = zeros_of(step);
  const WideTensor &x = *step.in.front(), &z = *step.in.back();
  for (size_t k = 0; k < out.value.size(); ++k)
    set_integer(out, static_cast<int64_t>(k), holds(x.value[k], z.value[k]) ? 1 : 0);
  return out;
}

}  // namespace

Result<WideTensor> point(const Step& step) {
  const Op op = step.node.op;
  if (op == Op::Cast) return cast_elements(step);
  if (op == Op::Where) return chosen_elements(step);
  const auto comparison = comparisons().find(op);
  if (comparison != comparisons().end()) return compared_elements(step, comparison->second);
  if (is_whole(step.x().dtype)) return point_of_integers(step);
  WideTensor out = zeros_of(step);
  const auto one = functions_of_one().find(op);
  const auto two = functions_of_two().find(op);
  if (one != functions_of_one().end()) {
    for (size_t k = 0; k < out.value.size(); ++k) out.value[k] = one->second(step.x().value[k]);
  } else if (two != functions_of_two().end()) {
    for (size_t k = 0; k < out.value.size(); ++k)
      out.value[k] = two->second(step.x().value[k], step.in[1]->value[k]);
  } else {
    return step.refuse("is not known for floats");
  }
  return out;
}

}  // namespace kw::mutation
