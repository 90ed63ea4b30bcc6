// Functions that VALUE and SLOPE of table.def call in addition to those of C, for hosts and
// devices. Kernels of large truths contain this file as text, after a line that defines
// KW_ON_DEVICE.
#ifndef KW_ON_DEVICE
#pragma once

#include <cmath>

#include "ops/between.h"

// Always inlined, because some sources that use these are compiled for several x86-64 levels.
#define KW_HD [[gnu::always_inline]] inline
#else
#define KW_HD __device__ __forceinline__
#endif

namespace kw::ops {

#ifndef KW_ON_DEVICE

KW_HD double infinity() { return __builtin_inf(); }
KW_HD double not_a_number() { return __builtin_nan(""); }

// Plain here; see the other branch.
KW_HD double exact_add(double x, double z) { return x + z; }
KW_HD double exact_mul(double x, double z) { return x * z; }
KW_HD double exact_div(double x, double z) { return x / z; }
KW_HD double exact_sqrt(double x) { return std::sqrt(x); }
KW_HD double exponential(double x) { return std::exp(x); }
KW_HD double power_of_two(double x) { return std::exp2(x); }

// CUDA has the next three, so only hosts need them.
double erfinv(double x);
/// exp(x²) erfc(x), without overflow or underflow for large x.
double erfcx(double x);
/// Like std::lgamma, without its global sign variable.
double lgamma(double x);

#else

KW_HD double infinity() { return __longlong_as_double(0x7ff0000000000000LL); }
KW_HD double not_a_number() { return __longlong_as_double(0x7ff8000000000000LL); }

// The compiler contracts products and sums of other operators.
KW_HD double exact_add(double x, double z) { return __dadd_rn(x, z); }
KW_HD double exact_mul(double x, double z) { return __dmul_rn(x, z); }
KW_HD double exact_div(double x, double z) { return __ddiv_rn(x, z); }
KW_HD double exact_sqrt(double x) { return __dsqrt_rn(x); }

// CUDA's own may be off by one step, which among subnormal numbers is as much as the number itself:
// what follows would be exact where it must not be. The sums below are exact.
KW_HD double exponential(double x) {
  return x < -708 && x > -1000 ? exp(x + 80) * 1.8048513878454153e-35 : exp(x);
}
KW_HD double power_of_two(double x) {
  return x < -1020 && x > -1200 ? exp2(x + 128) * 0x1p-128 : exp2(x);
}

#endif

KW_HD double above_zero(double x) { return 0.0 < x ? x : 0.0; }

KW_HD double sigmoid(double x) {
  if (x >= 0) return 1 / (1 + exponential(-x));
  const double e = exponential(x);
  return e / (1 + e);
}

/// NaN at negative integers, -infinity at +0, as in PyTorch.
KW_HD double digamma(double x) {
  constexpr double kPi = 3.14159265358979323846;
  if (x == 0) return copysign(infinity(), -x);
  double reflected = 0;
  if (x < 0) {
    if (x == floor(x)) return not_a_number();
    // Takes the fraction first, because tan(pi x) of a large x would lose it. By trunc, because
    // x - floor(x) of a small x would lose it too.
    reflected = kPi / tan(kPi * (x - trunc(x)));
    x = 1 - x;
  }
  double sum = 0;
  for (; x < 10; x += 1) sum -= 1 / x;
  const double z = 1 / (x * x);
  const double series =
      z * (1.0 / 12 -
           z * (1.0 / 120 -
                z * (1.0 / 252 -
                     z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z * (1.0 / 12)))))));
  return sum + log(x) - 0.5 / x - series - reflected;
}

// Not C's hypot: its symbol needs GLIBC 2.35.
KW_HD double hypotenuse(double x, double z) {
  const double large = fmax(fabs(x), fabs(z)), small = fmin(fabs(x), fabs(z));
  if (fabs(x) == infinity() || fabs(z) == infinity()) return infinity();
  if (x != x || z != z) return not_a_number();
  if (large == 0) return 0;
  const double ratio = small / large;
  return large * sqrt(1 + ratio * ratio);
}

KW_HD double remainder_of(double x, double z) {
  const double r = fmod(x, z);
  return r != 0 && (z < 0) != (r < 0) ? r + z : r;
}

KW_HD double floor_div(double x, double z) {
  if (z == 0) return x / z;
  const double r = fmod(x, z);
  double quotient = (x - r) / z;
  if (r != 0 && (z < 0) != (r < 0)) quotient -= 1;
  if (quotient == 0) return copysign(0.0, x / z);
  const double whole = floor(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

/// Maximum and Fmax (sign 1), Minimum and Fmin (sign -1); Fmax and Fmin do not see NaN.
KW_HD double seen(double x, double sign, bool nan_wins) {
  return nan_wins | (x == x) ? sign * x : -infinity();
}
KW_HD double picked(double x, double z, double sign, bool nan_wins) {
  const double p = seen(x, sign, nan_wins), q = seen(z, sign, nan_wins);
  const double other = p != p ? p : q, best = sign * (p > q ? p : other);
  const double nan = z != z ? x : best;
  return x != x ? nan : best;
}

}  // namespace kw::ops
