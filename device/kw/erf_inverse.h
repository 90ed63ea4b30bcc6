// Inverse error functions, scaled error function and norms of vectors. A starting value from the
// elementary functions, then steps of Halley's method on erf or erfc, whichever keeps its digits.
#pragma once

#include <kw/gamma_double.h>
#include <kw/inverse_double.h>
#include <kw/inverse_float.h>

// x >= 0 with erf(x) = most and erfc(x) = rest, which are 1 together; log_product = log(1 -
// most^2).
KW_MATH double kw_erf_inverse(double most, double rest, double log_product) {
  constexpr double kShape = 0.147, kTwoOverRootPi = 1.1283791670955126;
  const double half = 4.3307467507995 + 0.5 * log_product;  // 2 / (pi * kShape) + …
  double x = sqrt(sqrt(half * half - log_product / kShape) - half);
#pragma unroll 1
  for (int i = 0; i < 4; ++i) {  // three are enough but far in the tail
    const double missed = x < 0.5 ? most - erf(x) : erfc(x) - rest;
    const double step = missed / (kTwoOverRootPi * exp(-x * x));
    x = x + step / (1.0 - x * step);
  }
  return x;
}
KW_MATH double erfinv(double y) {
  const double a = fabs(y);
  if (!(a < 1.0)) return a == 1.0 ? copysign(__builtin_inf(), y) : __builtin_nan("");
  if (a < 1e-8) return y * 0.88622692545275801;
  return copysign(kw_erf_inverse(a, 1.0 - a, log1p(-a * a)), y);
}
KW_MATH double erfcinv(double y) {
  if (!(y >= 0.0 && y <= 2.0)) return __builtin_nan("");
  if (y == 0.0 || y == 2.0) return y == 0.0 ? __builtin_inf() : -__builtin_inf();
  if (y > 0.5 && y < 1.5) return erfinv(1.0 - y);
  const double tail = y > 1.0 ? 2.0 - y : y;
  const double x = kw_erf_inverse(1.0 - tail, tail, log(tail) + log(2.0 - tail));
  return y > 1.0 ? -x : x;
}
KW_MATH double normcdfinv(double p) { return -1.4142135623730951 * erfcinv(2.0 * p); }
KW_MATH double erfcx(double x) {
  if (x < 10.0) {
    const double square = x * x, lost = kw_fma(x, x, -square), e = exp(square);
    return x < -26.64 ? __builtin_inf() : kw_fma(lost, e, e) * erfc(x);
  }
  const double z = 1.0 / (2.0 * x * x);
  double sum = 1.0;
#pragma unroll 1
  for (int k = 10; k > 0; --k) sum = 1.0 - (2 * k - 1) * z * sum;
  return 0.56418958354775628 / x * sum;
}
KW_FN float erfinvf(float y) { return static_cast<float>(erfinv(static_cast<double>(y))); }
KW_FN float erfcinvf(float y) { return static_cast<float>(erfcinv(static_cast<double>(y))); }
KW_FN float normcdfinvf(float p) { return static_cast<float>(normcdfinv(static_cast<double>(p))); }
KW_FN float erfcxf(float x) { return static_cast<float>(erfcx(static_cast<double>(x))); }

KW_FN double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
KW_FN double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }
KW_MATH double norm(int count, const double* values) {
  double length = 0.0;
  for (int i = 0; i < count; ++i) length = hypot(length, values[i]);
  return length;
}
KW_MATH float normf(int count, const float* values) {
  double sum = 0.0;  // squares of floats neither overflow nor vanish in double
  for (int i = 0; i < count; ++i) sum += static_cast<double>(values[i]) * values[i];
  return static_cast<float>(sqrt(sum));
}
KW_FN double rnorm(int count, const double* values) { return 1.0 / norm(count, values); }
KW_FN float rnormf(int count, const float* values) { return 1.0f / normf(count, values); }
