// The rules of docs/error-bound.md for one element, in fp64: how errors pass through ops. The loops
// of the interpreter call them. Kernels of large truths contain this file as text, after special.h,
// so that both have the same rules. Conditions use & and | where a loop must vectorise.
//
// Two things differ between host and device. The host rounds to small formats with the functions of
// `numeric`. Threads of a device share sums, so their order differs.
#ifndef KW_ON_DEVICE
#pragma once

#include <cmath>

#include "ops/special.h"
#include "ports/bound.h"
#endif

namespace kw::truth {

using ops::infinity, ops::not_a_number;

#ifndef KW_ON_DEVICE  // devices get them as text
/// On the fp32 path functions are evaluated at the full bound, so that a pole within the bound is
/// found.
inline constexpr double kPathFactor = ports::BoundConstants{}.path_factor;
inline constexpr double kSumRoot = ports::BoundConstants{}.sum_root;
inline constexpr double kSumPlus = ports::BoundConstants{}.sum_plus;
inline constexpr double kHalfSum = ports::BoundConstants{}.half_sum;
#endif
constexpr double kLargest = 0x1.fffffffffffffp+1023;
/// An error is small if it is below this share of the argument and of 1.
constexpr double kSmall = 0x1p-6;

/// The error that one op adds on the fp32 path, in units of 2^-24 (2^-53 for fp64), except `floor`.
struct OpErrors {
  double relative = 0;  // relative to the result: L
  double argument = 0;  // relative to the argument, which an implementation may scale first
  double absolute = 0;  // independent of the result
  double floor = 0;     // not in units: smaller results may become zero
};

/// The roundings of a node's dtype. Half types compute in fp32 and round once more.
struct Rounding {
  double unit = 0, tiny = 0;            // fp32 or fp64 path: relative, and for subnormals
  double limit = 0;                     // larger results overflow on this path
  double half_unit = 0, half_tiny = 0;  // of the half type; 0 for fp32 and fp64
  double half_limit = 0;
  bool half_infinity = true;  // whether the half type has an infinity
};

/// A value and its errors: of the fp32 path and of half roundings.
struct TrackedValue {
  double t, a, h;
};

/// The largest distance of an element from its value.
KW_HD double reach(double a, double h) { return kPathFactor * a + h; }

KW_HD double larger(double x, double z) { return x > z ? x : z; }

/// Returns the magnitude, or 0 for infinities and NaN: roundings are relative to it.
KW_HD double finite_magnitude(double x) {
  const double m = fabs(x);
  return m <= kLargest ? m : 0;
}

/// Converts a bound for storage: never rounds it down; NaN becomes infinite.
KW_HD float stored_bound(double bound) {
  const float nearest = (float)bound;
  const float up = (double)nearest < bound ? nearest * 0x1.000002p0f : nearest;
  const float known = up > 0x1p-149f ? up : 0x1p-149f;
  const float other = bound == 0 ? 0.0f : (float)infinity();
  return bound > 0 ? known : other;
}

// --- an op's own rounding ----------------------------------------------------------------------

/// Both take the result and the error that its operands cause.
KW_HD double with_path_rounding(double t, double e, const Rounding& r, const OpErrors& op) {
  const double m = fabs(t);
  const bool finite = m <= kLargest;
  const double tiny = op.relative > 0 ? r.tiny : 0, fixed = op.absolute * r.unit + op.floor;
  const double own = op.relative * r.unit * m + (m > 0 ? tiny : 0) + fixed;
  const double sum = e + (finite ? own : 0);
  const double known = sum == sum ? sum : infinity();
  return finite & (m + kPathFactor * e > r.limit) ? infinity() : known;
}
KW_HD double with_half_rounding(double t, double e, const Rounding& r) {
  const double m = fabs(t);
  const bool finite = m <= kLargest;
  const double own = r.half_unit * m + (m > 0 ? r.half_tiny : 0);
  const double sum = e + (finite ? own : 0);
  const double known = sum == sum ? sum : infinity();
  return (finite | !r.half_infinity) & (m + e > r.half_limit) ? infinity() : known;
}

// --- functions of one argument -----------------------------------------------------------------

/// |moved - y|; infinite when the moved argument leaves the domain.
KW_HD double distance(double moved, double y) {
  if (moved == y || (y != y && moved != moved)) return 0;
  const double d = fabs(moved - y);
  return d == d ? d : infinity();
}

/// Returns max |f(x ± e) - y| with y = f(x). An error too small for a difference in fp64 is scaled
/// up first, and the result is scaled down.
template <class F>
KW_HD double error_by_perturbation(F f, double x, double y, double e) {
  if (e == 0) return 0;
  if (e == infinity()) return infinity();
  if (!(fabs(x) < infinity())) return 0;
  const double visible = 0x1p-26 * fabs(x);
  const double step = e > visible ? e : visible;
  const double most = larger(distance(f(x + step), y), distance(f(x - step), y));
  return e < step ? most * (e / step) : most;
}

/// The same for functions that oscillate or have poles, which their ends do not bound.
template <class F>
KW_HD double error_between(ops::Between between, F f, double x, double y, double e) {
  constexpr double kPi = 3.14159265358979323846;
  if (e == 0) return 0;
  if (between == ops::Between::Wave) return e < 2 ? e : 2;
  if (between == ops::Between::TanPoles && floor((x - e) / kPi + 0.5) != floor((x + e) / kPi + 0.5))
    return infinity();
  if (between == ops::Between::GammaPoles && ceil(x - e) <= (x + e < 0 ? x + e : 0))
    return infinity();
  return error_by_perturbation(f, x, y, e);
}

/// The path error of the argument with the error of scaling it; `own` is relative.
KW_HD double argument_error(double x, double a, double own) {
  return a + own * finite_magnitude(x);
}

/// Returns whether slope * error is too rough an estimate: the function must be tried at both ends.
KW_HD bool is_rough(double x, double slope, double a, double h) {
  const double m = fabs(x), most = larger(a, h);
  return !(most <= kSmall * (m < 1 ? m : 1)) | !(slope <= kLargest);
}

// --- functions of two --------------------------------------------------------------------------

/// `cancels`: the operands are the same, and subtracted.
KW_HD double sum_error(bool cancels, double ex, double ez) {
  return cancels & (ex < infinity()) ? 0 : ex + ez;
}

/// What joining a sum adds: each operand's magnitude is rounded once per term of the other.
KW_HD double joined_error(double x, double z, double joins_x, double joins_z, double unit) {
  return unit * (joins_x * finite_magnitude(x) + joins_z * finite_magnitude(z));
}

KW_HD double product_error(double x, double z, double ex, double ez, double second) {
  const double mx = fabs(x), mz = fabs(z);
  // Infinity times a possible zero may be NaN.
  const bool open = ((mx > kLargest) & (ez > 0) & (second * ez >= mz)) |
                    ((mz > kLargest) & (ex > 0) & (second * ex >= mx));
  const double sum = finite_magnitude(z) * ex + finite_magnitude(x) * ez;
  return open ? infinity() : sum + second * ex * ez;
}

/// The error of x / x, which is 1 unless it may be 0 / 0 or infinity / infinity.
KW_HD double ratio_error(double x, double e, double factor) {
  return (e == 0) | (factor * e < fabs(x)) ? 0 : infinity();
}
/// The error of a quotient by its first derivatives, and whether the divisor allows it.
KW_HD double quotient_error(double z, double y, double ex, double ez) {
  return (ex + finite_magnitude(y) * ez) / fabs(z);
}
KW_HD bool is_rough_divisor(double z, double ez) {
  const double m = fabs(z);
  return !(ez <= kSmall * m) | !(m > 0) | !(m <= kLargest);
}
/// The same by trying all four ends, where it does not.
KW_HD double worst_quotient(double x, double ex, double z, double ez, double y) {
  if (ex == 0 && ez == 0) return 0;
  if (!(ez < fabs(z))) return infinity();
  const double high = larger(distance((x + ex) / (z - ez), y), distance((x + ex) / (z + ez), y));
  const double low = larger(distance((x - ex) / (z - ez), y), distance((x - ex) / (z + ez), y));
  return larger(high, low);
}

/// The larger of p and q is m. With errors, it lies between the larger of both lower ends and the
/// larger of both upper ends.
KW_HD double choice_error(double p, double q, double m, double ep, double eq) {
  const double up = larger(p + ep, q + eq), down = larger(p - ep, q - eq);
  const double most = larger(up - m, m - down);
  const double known = fabs(m) <= kLargest ? most : 0;
  return (ep == infinity()) | (eq == infinity()) ? infinity() : known;
}

/// The error of pow: by its derivatives if the errors are small, otherwise by evaluation.
KW_HD double power_error(double x, double z, double y, double ex, double ez) {
  if ((ex == 0 && ez == 0) || (z == 0 && ez == 0)) return 0;
  // Negative numbers have only whole powers; the exponent may or may not be whole. Of -0 it decides
  // the sign of an infinity.
  const bool turns = x < 0 || (x == 0 && fabs(y) == infinity() && copysign(1.0, x) < 0);
  if (turns && ez > 0 && floor(z + ez) >= ceil(z - ez)) return infinity();
  const bool small = x > 0 && ex <= kSmall * x && ez <= kSmall;
  if (small && fabs(y) <= kLargest && fabs(z) * ex <= kSmall * x)
    return fabs(z * y / x) * ex + fabs(y * log(x)) * ez;
  return error_by_perturbation([=](double v) { return pow(v, z); }, x, y, ex) +
         error_by_perturbation([=](double v) { return pow(x, v); }, z, y, ez);
}
KW_HD TrackedValue power_of(const TrackedValue& x, const TrackedValue& z, const Rounding& r, bool a,
                            bool h) {
  TrackedValue y = {z.t == 2 ? ops::exact_mul(x.t, x.t) : pow(x.t, z.t), 0, 0};
  if (a) {
    // x^z = 2^(z log2 x), and the exponent is rounded.
    const double exponent = finite_magnitude(z.t * log(fabs(x.t)));
    y.a = power_error(x.t, z.t, y.t, kPathFactor * x.a, kPathFactor * z.a) / kPathFactor +
          r.unit * exponent * finite_magnitude(y.t);
  }
  if (h) y.h = power_error(x.t, z.t, y.t, x.h, z.h);
  return y;
}

/// A function that is smooth in both arguments, by trying.
template <class F>
KW_HD double tried_error(F f, double x, double z, double y, double ex, double ez) {
  return error_by_perturbation([=](double v) { return f(v, z); }, x, y, ex) +
         error_by_perturbation([=](double v) { return f(x, v); }, z, y, ez);
}

// --- integers ----------------------------------------------------------------------------------

/// Towards zero, as far as int64 reaches; NaN gives 0.
KW_HD long long to_whole(double x) {
  if (x != x) return 0;
  if (x <= -0x1p63) return (long long)(1ULL << 63);
  if (x >= 0x1p63) return ~(long long)(1ULL << 63);
  return (long long)x;
}

/// Towards minus infinity, and the remainder; z is not 0. Without undefined overflow.
KW_HD long long floor_rest(long long x, long long z) {
  const long long rest = z == -1 ? 0 : x % z;
  return rest != 0 && (rest < 0) != (z < 0) ? rest + z : rest;
}
KW_HD long long floor_quotient(long long x, long long z) {
  if (z == -1) return (long long)(0ULL - (unsigned long long)x);
  const long long rest = x % z;
  return x / z - (rest != 0 && (rest < 0) != (z < 0) ? 1 : 0);
}

}  // namespace kw::truth
