// The problem: log(1 + exp(x)) is about x for large x, but exp(x) is infinite in fp64. Here every
// value and error is a wide number, so nothing overflows or underflows, and the rules are those of
// rules.h. Functions take their arguments in fp64 where that is possible; only those that produce
// or take huge numbers have formulas of their own. The alternative, a table of rewrites such as
// softplus, would cover only the formulas in it. The cost is about a hundred times that of fp64,
// for single elements.
#include "truth/wide_ops.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/op_groups.h"
#include "ops/special.h"
#include "ports/bound.h"
#include "truth/scalar.h"
#include "truth/values.h"

namespace kw::truth {

using graph::Op;
using tensor::DType;

namespace {

constexpr double kLog2 = 0.693147180559945309417232121458176568;
constexpr double kLog10 = 2.302585092994045684017991454684364208;
constexpr double kTinyExponent = -60, kHugeExponent = 60;

bool is_beyond_double(const Wide& x) { return x.finite() && x.exponent() > 1023; }

/// By the function in fp64. NaN, which means not known, where fp64 cannot hold argument or result.
Wide by_double(Op op, const Wide& x) {
  const double v = x.value(), y = apply(op, v);
  if (is_beyond_double(x) || (!std::isfinite(y) && std::isfinite(v))) return Wide(not_a_number());
  return Wide(y);
}
/// For functions that do not change beyond the range of fp64.
Wide by_end(Op op, const Wide& x) {
  return is_beyond_double(x) ? Wide(apply(op, std::copysign(kLargest, x.mantissa())))
                             : by_double(op, x);
}

/// The slope at 0 of a function that is proportional to its argument there; 0: it is another one.
double slope_at_zero(Op op) {
  switch (op) {
#define KW_POINTWISE(op, name, inputs, ...) \
  case Op::op:                              \
    __VA_ARGS__ break;
#define NEAR_ZERO(slope) return slope;
#include "ops/table.def"
    default:
      break;
  }
  return 0;
}

/// Of functions that are the integers below, above or beside their argument.
Wide whole(Op op, const Wide& x) { return is_beyond_double(x) ? x : by_double(op, x); }

/// By exponentials where those are huge. Where the argument is small the parts would cancel.
Wide beyond_700(Op op, const Wide& x, const Wide& huge) {
  return std::fabs(x.value()) < 700 ? by_double(op, x) : huge;
}

Wide log1p(const Wide& x) {
  return x.finite() && x.exponent() > kHugeExponent ? log(x) : by_double(Op::Log1p, x);
}

/// Asinh and Acosh: ln(2 |x|) for large |x|, in or beyond fp64.
Wide inverse_hyperbolic(Op op, const Wide& x) {
  if (!x.finite() || x.exponent() < kHugeExponent || (op == Op::Acosh && x.negative()))
    return by_double(op, x);
  const Wide y = log(abs(x)) + Wide(kLog2);
  return x.negative() ? -y : y;
}

/// erfc(x) = exp(-x²) erfcx(x), where fp64 has no erfc left.
Wide erfc(const Wide& x) {
  if (!x.finite() || x.negative() || !(Wide(26) < x)) return by_end(Op::Erfc, x);
  if (!(x < Wide(0x1p16))) return Wide(not_a_number());
  // A rounding of x² or of its quotient by ln 2 would become a relative error of x² units in the
  // result. So the square is exact, and ln 2 has two parts; the product with the first is exact.
  constexpr long double kHigh = 6.93147180369123816490e-01L, kLow = 1.90821492927058770002e-10L;
  const double v = x.value(), square = v * v, lost = std::fma(v, v, -square);
  const double doublings = std::nearbyint(square / kLog2);
  const long double rest = square - doublings * kHigh - doublings * kLow + lost;
  return Wide(std::exp(static_cast<double>(-rest)), -doublings) * Wide(ops::erfcx(v));
}

Wide sigmoid(const Wide& x) {
  const Wide e = exp(-abs(x));
  return x.negative() ? e / (Wide(1) + e) : Wide(1) / (Wide(1) + e);
}

Wide erfcx(const Wide& x) {
  if (!is_beyond_double(x) || x.negative()) return by_double(Op::Erfcx, x);
  return Wide(std::numbers::inv_sqrtpi) / x;
}

Wide function_of(Op op, const Wide& x) {
  if (x.nan()) return x;
  const double slope = slope_at_zero(op);
  if (slope != 0 && x.finite() && x.exponent() < kTinyExponent) return Wide(slope) * x;
  switch (op) {
#define KW_POINTWISE(op, name, inputs, ...)
#define KW_UNARY(op, name, ...) \
  case Op::op:                  \
    __VA_ARGS__ break;
#define KW_FUNCTION(op, name, ...) KW_UNARY(op, name, __VA_ARGS__)
#define WIDE(...) return __VA_ARGS__;
#include "ops/table.def"
    default:
      break;
  }
  return by_double(op, x);
}

Wide distance(const Wide& moved, const Wide& y) {
  if (moved == y || (moved.nan() && y.nan())) return Wide(0);
  const Wide d = abs(moved - y);
  return d.nan() ? Wide(infinity()) : d;
}

template <class F>
Wide error_at_ends(F f, const Wide& x, const Wide& y, const Wide& e) {
  if (e.zero()) return Wide(0);
  if (!e.finite()) return Wide(infinity());
  if (!x.finite()) return Wide(0);
  const Wide visible = Wide(0x1p-26) * abs(x), step = larger(e, visible);
  const Wide most = larger(distance(f(x + step), y), distance(f(x - step), y));
  return e < step ? most * (e / step) : most;
}

/// The rounding below the normal range. A result far below the least number of its type has none
/// here: a kernel that loses it has another result, which the op-by-op run shows.
Wide rounding_near(double tiny, const Wide& m) {
  return Wide(tiny) < m * Wide(16) ? Wide(tiny) : Wide(0);
}

/// Adds the op's own roundings.
WideValue rounded_result(const WideOp& op, WideValue y) {
  if (!y.t.finite()) return y;
  const Wide m = abs(y.t);
  const Rounding& r = op.rounding;
  const auto near = [&](double tiny) { return rounding_near(tiny, m); };
  const double fixed = op.errors.absolute * r.unit;
  y.a = y.a + Wide(op.errors.relative * r.unit) * m + Wide(fixed);
  if (op.errors.relative > 0) y.a = y.a + near(r.tiny);
  y.a = y.a + near(op.errors.floor);
  if (op.rounds_half) y.h = y.h + Wide(r.half_unit) * m + near(r.half_tiny);
  if (y.a.nan() || y.h.nan()) return unknown();
  return y;
}

/// The error of the logarithm of a positive value.
double log_error(const Wide& t, const Wide& e, double known) {
  if (known >= 0) return known;
  if (e.zero()) return 0;
  return e < t ? -std::log1p(-(e / t).value()) : infinity();
}
double log_path(const WideValue& x) { return log_error(x.t, Wide(kPathFactor) * x.a, x.log_a); }
double log_half(const WideValue& x) { return log_error(x.t, x.h, x.log_h); }

bool is_positive(const WideValue& x) { return !x.t.negative() && !x.t.zero() && x.t.finite(); }

bool is_log(Op op) { return op == Op::Log || op == Op::Log2 || op == Op::Log10 || op == Op::Log1p; }

double log_base(Op op) { return op == Op::Log2 ? kLog2 : (op == Op::Log10 ? kLog10 : 1); }

/// What the op itself adds to the errors of the logarithm.
WideValue with_log_rounding(const WideOp& op, WideValue y, double log_a, double log_h) {
  y.log_a = log_a + 2 * kPathFactor * op.errors.relative * op.rounding.unit;
  y.log_h = log_h + (op.rounds_half ? 2 * op.rounding.half_unit : 0);
  return y;
}

Wide finite_part(const Wide& x) { return x.finite() ? abs(x) : Wide(0); }

Wide product_error(const Wide& x, const Wide& z, const Wide& ex, const Wide& ez, double second) {
  const auto open = [&](const Wide& huge, const Wide& other, const Wide& e) {
    return !huge.finite() && !e.zero() && !(Wide(second) * e < abs(other));
  };
  if (open(x, z, ez) || open(z, x, ex)) return Wide(infinity());
  const auto times = [](const Wide& p, const Wide& q) {
    return p.zero() || q.zero() ? Wide(0) : p * q;
  };
  return times(finite_part(z), ex) + times(finite_part(x), ez) + times(Wide(second) * ex, ez);
}

Wide quotient_error(const Wide& x, const Wide& z, const Wide& y, const Wide& ex, const Wide& ez) {
  if (ex.zero() && ez.zero()) return Wide(0);
  if (!ex.finite() || !(ez < abs(z))) return Wide(infinity());
  if (!z.finite()) return Wide(0);
  if (!(Wide(kSmall) * abs(z) < ez)) return (ex + finite_part(y) * ez) / abs(z);
  const Wide high = larger(distance((x + ex) / (z - ez), y), distance((x + ex) / (z + ez), y));
  const Wide low = larger(distance((x - ex) / (z - ez), y), distance((x - ex) / (z + ez), y));
  return larger(high, low);
}

Wide power(const Wide& x, const Wide& z) {
  if (z == Wide(2)) return x * x;
  // Infinity and 0 are on the same side of 1 as what lies beyond the range of fp64.
  const double v = x.value(), e = z.value(), y = std::pow(v, e);
  const bool special = !x.finite() || x.zero() || !z.finite() || z.zero();
  const bool fits = std::isfinite(v) && std::fabs(v) >= 0x1p-1022 && std::isfinite(y) && y != 0;
  if (special || (fits && std::isfinite(e))) return Wide(y);
  if (!x.negative()) return exp(z * log(x));
  if (std::isfinite(e) && std::floor(e) != e) return Wide(not_a_number());
  const Wide size = exp(z * log(abs(x)));
  return std::isfinite(e) && std::fmod(e, 2) != 0 ? -size : size;
}

WideValue compared(const WideOp& op, const WideValue& x, const WideValue& z) {
  const Wide reach = Wide(kPathFactor) * (x.a + z.a) + x.h + z.h;
  const bool decided = reach.zero() || (reach.finite() && reach < abs(x.t - z.t));
  if (!decided || (op.same && !reach.zero())) return unknown();
  const double order = x.t < z.t ? -1 : (z.t < x.t ? 1 : 0);
  if (x.t.nan() || z.t.nan()) return {Wide(compare(op.op, not_a_number(), 0.0) ? 1 : 0), {}, {}};
  return {Wide(compare(op.op, order, 0.0) ? 1 : 0), {}, {}};
}

/// Returns whether the errors decide that the value is zero, or is not.
bool is_zero_certain(const WideValue& x) {
  const Wide reach = Wide(kPathFactor) * x.a + x.h;
  return reach.zero() || reach < abs(x.t);
}

/// Integers that the format can hold are exact.
WideValue cast_to_float(WideOp op, const WideValue& x) {
  const double v = x.t.value();
  if (op.snaps) {
    const bool certain = x.a.zero() && x.h.zero() && std::fabs(v) <= ports::largest_finite(op.to);
    return certain ? WideValue{Wide(snapped(op.to, v)), {}, {}} : unknown();
  }
  if (!tensor::is_float(op.from)) {
    op.errors.relative = op.to != DType::Fp64 && rounded(DType::Fp32, v) != v ? 1 : 0;
    op.rounds_half = rounded(op.to, v) != v;
  }
  return rounded_result(op, x);
}

WideValue cast(const WideOp& op, const WideValue& x) {
  const bool whole = !tensor::is_float(op.to), integers = !tensor::is_float(op.from);
  if (!whole) return cast_to_float(op, x);
  if (op.to == DType::Bool && is_zero_certain(x)) return {Wide(x.t.zero() ? 0 : 1), {}, {}};
  if (!x.a.zero() || !x.h.zero() || (integers && !is_whole(x))) return unknown();
  const double v = x.t.value();
  return {Wide(to_double(integers ? wrapped(op.to, static_cast<int64_t>(v)) : to_integer(v, op.to),
                         op.to)),
          {},
          {}};
}

}  // namespace

WideValue unknown() { return {Wide(not_a_number()), Wide(infinity()), Wide(infinity())}; }

bool is_known(const WideValue& x) { return x.a.finite() && x.h.finite(); }

bool is_whole(const WideValue& x) {
  return x.a.zero() && x.h.zero() && std::fabs(x.t.value()) <= 0x1p53;
}

WideValue wide_unary(const WideOp& op, const WideValue& x) {
  if (!is_known(x)) return unknown();
  if (op.op == Op::Cast) return cast(op, x);
  if (op.op == Op::Neg) return {-x.t, x.a, x.h};
  if (op.op == Op::Abs) return {abs(x.t), x.a, x.h};
  if (op.op == Op::IsNan) return {Wide(x.t.nan() ? 1 : 0), {}, {}};
  if (op.op == Op::IsInf) return {Wide(!x.t.nan() && !x.t.finite() ? 1 : 0), {}, {}};
  if (op.op == Op::Not)
    return is_zero_certain(x) ? WideValue{Wide(x.t.zero() ? 1 : 0), {}, {}} : unknown();
  if (ops::is_step(op.op)) {
    const bool lost = x.t.value() == 0 && !x.t.zero();
    if (!x.a.zero() || !x.h.zero() || lost) return unknown();
    return {function_of(op.op, x.t), {}, {}};
  }
  const ops::Between between = graph::op_info(op.op).between;
  const Wide y = function_of(op.op, x.t);
  if (y.nan() && !x.t.nan()) return unknown();
  const auto error = [&](const Wide& e) {
    if (e.zero()) return Wide(0);
    if (between == ops::Between::Wave) return e < Wide(2) ? e : Wide(2);
    if (between == ops::Between::TanPoles || between == ops::Between::GammaPoles)
      return Wide(infinity());
    return error_at_ends([&](const Wide& v) { return function_of(op.op, v); }, x.t, y, e);
  };
  const Wide own = Wide(op.errors.argument * op.rounding.unit) * finite_part(x.t);
  const Wide reach = Wide(kPathFactor) * (x.a + own);
  if (is_log(op.op) && is_positive(x)) {
    const Wide log_a(log_path(x) / log_base(op.op)), log_h(log_half(x) / log_base(op.op));
    return rounded_result(op, {y, log_a / Wide(kPathFactor), log_h});
  }
  const WideValue result = rounded_result(op, {y, error(reach) / Wide(kPathFactor), error(x.h)});
  if (op.op != Op::Exp) return result;
  return with_log_rounding(op, result, reach.value(), x.h.value());
}

WideValue wide_choice(const WideValue& x, const WideValue& z, double sign) {
  if (!is_known(x) || !is_known(z)) return unknown();
  if (x.t.nan() || z.t.nan()) return {Wide(not_a_number()), {}, {}};
  const Wide p = Wide(sign) * x.t, q = Wide(sign) * z.t, m = larger(p, q);
  const auto error = [&](const Wide& ep, const Wide& eq) {
    if (!m.finite()) return Wide(0);
    const Wide up = larger(p + ep, q + eq), down = larger(p - ep, q - eq);
    return larger(up - m, m - down);
  };
  const auto both = [](const WideValue& v) { return Wide(kPathFactor) * v.a + v.h; };
  return {Wide(sign) * m, error(x.a, z.a), error(both(x), both(z))};
}

WideValue wide_binary(const WideOp& op, const WideValue& x, const WideValue& z) {
  if (op.op >= Op::Eq && op.op <= Op::Ge) return compared(op, x, z);
  if (op.op == Op::Pow && z.t.zero() && z.a.zero() && z.h.zero()) return {Wide(1), {}, {}};
  if (!is_known(x) || !is_known(z)) return unknown();
  switch (op.op) {
    case Op::Add:
    case Op::Sub: {
      const bool minus = op.op == Op::Sub;
      if (op.same && minus && x.t.finite()) return {};
      const WideValue y = rounded_result(op, {minus ? x.t - z.t : x.t + z.t, x.a + z.a, x.h + z.h});
      if (minus || !is_positive(x) || !is_positive(z)) return y;
      return with_log_rounding(op, y, std::max(log_path(x), log_path(z)),
                               std::max(log_half(x), log_half(z)));
    }
    case Op::Mul:
      if (is_positive(x) && is_positive(z))
        return with_log_rounding(op, rounded_result(op, wide_product(x, z)),
                                 log_path(x) + log_path(z), log_half(x) + log_half(z));
      return rounded_result(op, wide_product(x, z));
    case Op::Div: {
      if (op.same && x.t.finite() && Wide(kPathFactor) * x.a + x.h < abs(x.t))
        return {Wide(1), {}, {}};
      const Wide y = x.t / z.t, four(kPathFactor);
      const Wide a = quotient_error(x.t, z.t, y, four * x.a, four * z.a) / four;
      return rounded_result(op, {y, a, quotient_error(x.t, z.t, y, x.h, z.h)});
    }
    case Op::Maximum:
      return wide_choice(x, z, 1);
    case Op::Minimum:
      return wide_choice(x, z, -1);
    case Op::Pow: {
      const Wide y = power(x.t, z.t), four(kPathFactor);
      const auto error = [&](const Wide& ex, const Wide& ez) {
        if (x.t.negative() && !ez.zero()) return Wide(infinity());
        return error_at_ends([&](const Wide& v) { return power(v, z.t); }, x.t, y, ex) +
               error_at_ends([&](const Wide& v) { return power(x.t, v); }, z.t, y, ez);
      };
      const Wide exponent = finite_part(z.t * log(abs(x.t)));
      const Wide own = Wide(op.rounding.unit) * exponent * finite_part(y);
      return rounded_result(op, {y, error(four * x.a, four * z.a) / four + own, error(x.h, z.h)});
    }
    default:
      return unknown();
  }
}

WideValue wide_product(const WideValue& x, const WideValue& z) {
  return {x.t * z.t, product_error(x.t, z.t, x.a, z.a, 4), product_error(x.t, z.t, x.h, z.h, 1)};
}

void WideSum::add(const WideValue& x) {
  t = t + x.t;
  size = size + finite_part(x.t);
  a = a + x.a;
  squares = squares + x.h * x.h;
  positive = positive && !x.t.negative() && x.t.finite();
  if (!is_positive(x)) return;
  log_a = std::max(log_a, log_path(x));
  log_h = std::max(log_h, log_half(x));
}

WideValue WideSum::result(double count, double chain, const Rounding& r) const {
  if (!a.finite() || !squares.finite()) return unknown();
  WideValue y = {t, a, sqrt(squares)};
  if (count <= 1) return y;
  y.h = Wide(kHalfSum) * y.h;
  if (!t.finite()) return y;
  const Wide tree = Wide(kSumRoot * std::sqrt(count) + kSumPlus) * size;
  y.a = y.a + Wide(r.unit) * larger(tree, Wide(chain) * abs(t));
  y.h = y.h + Wide(r.half_unit) * abs(t) + rounding_near(r.half_tiny, abs(t));
  if (!positive || t.zero()) return y;
  const double units = larger(kSumRoot * std::sqrt(count) + kSumPlus, chain);
  y.log_a = log_a + 2 * kPathFactor * r.unit * units;
  y.log_h = log_h + 2 * r.half_unit;
  return y;
}

}  // namespace kw::truth
