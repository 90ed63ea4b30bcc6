// The problem: log(1 + exp(x)) is about x for large x, but exp(x) is infinite in fp64. Here every
// value and error is a wide number, so nothing overflows or underflows, and the rules are those of
// rules.h. Functions take their arguments in fp64 where that is possible; only those that produce
// or take huge numbers have formulas of their own. The alternative, a table of rewrites such as
// softplus, would cover only the formulas in it. The cost is about a hundred times that of fp64,
// for single elements.
#include "truth/wide_ops.h"

#include <algorithm>
#include <cmath>

#include "ports/bound.h"
#include "truth/scalar.h"
#include "truth/values.h"

namespace kw::truth {

using graph::Op;
using tensor::DType;

namespace {

constexpr double kLog2 = 0.693147180559945309417232121458176568;
constexpr double kLog10 = 2.302585092994045684017991454684364208;

/// The argument in fp64. A function of a huge argument takes that at the end of fp64.
double in_double(const Wide& x) {
  if (!x.finite()) return x.mantissa();
  const double v = x.value();
  return std::isfinite(v) ? v : std::copysign(kLargest, v);
}

Wide by_double(Op op, const Wide& x) {
  const double v = in_double(x), y = apply(op, v);
  if (!std::isfinite(y) && std::isfinite(v)) return Wide(not_a_number());
  return Wide(y);
}

Wide sigmoid(const Wide& x) {
  const Wide e = exp(-abs(x));
  return x.negative() ? e / (Wide(1) + e) : Wide(1) / (Wide(1) + e);
}

Wide function_of(Op op, const Wide& x) {
  if (x.nan()) return x;
  const double small = -60, large = 60;  // of exponents
  switch (op) {
    case Op::Exp:
      return exp(x);
    case Op::Exp2:
      return power_of_two(x);
    case Op::Expm1:
      return std::fabs(in_double(x)) < 700 ? by_double(op, x) : exp(x) - Wide(1);
    case Op::Log:
      return log(x);
    case Op::Log2:
      return log(x) / Wide(kLog2);
    case Op::Log10:
      return log(x) / Wide(kLog10);
    case Op::Log1p:
      if (!x.finite() || x.zero()) return by_double(op, x);
      if (x.exponent() < small) return x;
      return x.exponent() > large ? log(x) : by_double(op, x);
    case Op::Sqrt:
      return sqrt(x);
    case Op::Rsqrt:
      return Wide(1) / sqrt(x);
    case Op::Reciprocal:
      return Wide(1) / x;
    case Op::Sigmoid:
      return sigmoid(x);
    case Op::Sinh:
      return (exp(x) - exp(-x)) / Wide(2);
    case Op::Cosh:
      return (exp(x) + exp(-x)) / Wide(2);
    case Op::Tanh:
    case Op::Erf:
    case Op::Atan:
    case Op::Asinh:
      if (!x.zero() && x.finite() && x.exponent() < -500)
        return op == Op::Erf ? by_double(op, x) : x;
      return by_double(op, x);
    default:
      return by_double(op, x);
  }
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
  const double e = in_double(z);
  if (e == 2) return x * x;
  const double v = in_double(x), y = std::pow(v, e);
  if (x.finite() && x.value() == v && std::isfinite(y) && (y != 0 || v == 0)) return Wide(y);
  if (!x.negative()) return exp(Wide(e) * log(x));
  if (std::floor(e) != e) return Wide(not_a_number());
  const Wide size = exp(Wide(e) * log(abs(x)));
  return std::fmod(e, 2) != 0 ? -size : size;
}

WideValue compared(const WideOp& op, const WideValue& x, const WideValue& z) {
  const Wide reach = Wide(kPathFactor) * (x.a + z.a) + x.h + z.h;
  const bool decided = reach.zero() || (reach.finite() && reach < abs(x.t - z.t));
  if (!decided || (op.same && !reach.zero())) return unknown();
  const double order = x.t < z.t ? -1 : (z.t < x.t ? 1 : 0);
  if (x.t.nan() || z.t.nan()) return {Wide(compare(op.op, not_a_number(), 0.0) ? 1 : 0), {}, {}};
  return {Wide(compare(op.op, order, 0.0) ? 1 : 0), {}, {}};
}

WideValue cast(const WideOp& op, const WideValue& x) {
  const bool whole = !tensor::is_float(op.to);
  if (!whole) return rounded_result(op, x);
  if (op.to == DType::Bool && !(abs(x.t) < Wide(kPathFactor) * x.a + x.h))
    return {Wide(x.t.zero() ? 0 : 1), {}, {}};
  if (!x.a.zero() || !x.h.zero()) return unknown();
  const double v = x.t.value();
  return {Wide(to_double(tensor::is_float(op.from) ? to_integer(v, op.to)
                                                   : wrapped(op.to, static_cast<int64_t>(v)),
                         op.to)),
          {},
          {}};
}

bool is_stepped(Op op) {
  return op == Op::Sign || op == Op::Floor || op == Op::Ceil || op == Op::Trunc || op == Op::Round;
}

}  // namespace

WideValue unknown() { return {Wide(not_a_number()), Wide(infinity()), Wide(infinity())}; }

bool is_known(const WideValue& x) { return x.a.finite() && x.h.finite(); }

WideValue wide_unary(const WideOp& op, const WideValue& x) {
  if (!is_known(x)) return unknown();
  if (op.op == Op::Cast) return cast(op, x);
  if (op.op == Op::Neg) return {-x.t, x.a, x.h};
  if (op.op == Op::Abs) return {abs(x.t), x.a, x.h};
  if (op.op == Op::IsNan) return {Wide(x.t.nan() ? 1 : 0), {}, {}};
  if (op.op == Op::IsInf) return {Wide(!x.t.nan() && !x.t.finite() ? 1 : 0), {}, {}};
  if (op.op == Op::Not) return {Wide(x.t.zero() ? 1 : 0), {}, {}};
  if (is_stepped(op.op)) {
    if (!x.a.zero() || !x.h.zero()) return unknown();
    return {by_double(op.op, x.t), {}, {}};
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
