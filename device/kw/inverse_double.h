// Double precision: hyperbolic and inverse functions, roots.
#pragma once

#include <kw/trig_double.h>

KW_MATH double tanh(double x) {
  const double a = fabs(x);
  const double e = expm1(a > 22.0 ? 44.0 : 2.0 * a);
  return x != x ? x : copysign(e / (e + 2.0), x);
}
KW_FN double kw_half_exp_large(double a) {
  const double t = exp(0.5 * a);
  return 0.5 * t * t;
}
KW_MATH double sinh(double x) {
  const double a = fabs(x), e = expm1(a);
  return copysign(a > 709.0 ? kw_half_exp_large(a) : 0.5 * (e + e / (e + 1.0)), x);
}
KW_MATH double cosh(double x) {
  const double a = fabs(x), e = exp(a);
  return a > 709.0 ? kw_half_exp_large(a) : kw_fma(0.5, e, 0.5 / e);
}
KW_MATH double asinh(double x) {
  const double a = fabs(x);
  const double r = a > 268435456.0 ? log(a) + 0.69314718055994529
                                   : log1p(a + a * a / (1.0 + sqrt(kw_fma(a, a, 1.0))));
  return copysign(r, x);
}
KW_MATH double acosh(double x) {
  const double t = x - 1.0;
  if (x < 1.0) return __builtin_nan("");
  return x > 268435456.0 ? log(x) + 0.69314718055994529 : log1p(t + sqrt(kw_fma(t, t, 2.0 * t)));
}
KW_MATH double atanh(double x) {
  const double a = fabs(x);
  return copysign(0.5 * log1p(2.0 * a / (1.0 - a)), x);
}

KW_FN double kw_atan_reduced(double t) {
  const double z = t * t;
  const double p = kw_poly(z, -0.33333333333333331, 0.1999999999999999, -0.14285714285711462,
                           0.11111111110748204, -0.090909090666206185, 0.076923067223419725,
                           -0.066666417173027404, 0.058819208480819431, -0.052579989063322383,
                           0.047191229424329038, -0.041033377467417725, 0.030610274694365835,
                           -0.013892520207010317);
  return kw_fma(t * z, p, t);
}
KW_MATH double atan(double x) {
  const double a = fabs(x);
  double r;
  if (a > 2.4142135623730949) {
    r = 1.5707963267948966 + (kw_atan_reduced(-1.0 / a) + 6.123233995736766e-17);
  } else if (a > 0.41421356237309503) {
    r = 0.78539816339744828 + (kw_atan_reduced((a - 1.0) / (a + 1.0)) + 3.061616997868383e-17);
  } else {
    r = kw_atan_reduced(a);
  }
  return copysign(r, x);
}
KW_MATH double atan2(double y, double x) {
  if (x != x || y != y) return x + y;
  const double a = fabs(y), b = fabs(x), high = a > b ? a : b, low = a > b ? b : a;
  double r = high == 0.0 ? 0.0 : low == high ? 0.78539816339744828 : atan(low / high);
  if (a > b) r = 1.5707963267948966 - (r - 6.123233995736766e-17);
  if (__double_as_longlong(x) < 0) r = 3.1415926535897931 - (r - 1.2246467991473532e-16);
  return copysign(r, y);
}
KW_FN double kw_asin_reduced(double x, double z) {
  const double p = kw_poly(z, 0.16666666666666666, 0.075000000000001191, 0.044642857142550188,
                           0.030381944475693704, 0.022372157435623815, 0.017352816768546473,
                           0.013963775787848137, 0.011566511821890944, 0.0096214027473448243,
                           0.0093221015010828048, 0.0030350071727266508, 0.01957920161974494,
                           -0.019277545928584897, 0.029635026263548751);
  return kw_fma(x * z, p, x);
}
KW_MATH double asin(double x) {
  const double a = fabs(x);
  if (a <= 0.5) return kw_asin_reduced(x, x * x);
  const double z = kw_fma(-0.5, a, 0.5), s = sqrt(z);
  return copysign(1.5707963267948966 - (2.0 * kw_asin_reduced(s, z) - 6.123233995736766e-17), x);
}
KW_MATH double acos(double x) {
  const double a = fabs(x);
  if (a <= 0.5) return 1.5707963267948966 - (kw_asin_reduced(x, x * x) - 6.123233995736766e-17);
  const double z = kw_fma(-0.5, a, 0.5), s = sqrt(z), r = 2.0 * kw_asin_reduced(s, z);
  return x > 0.0 ? r : 3.1415926535897931 - (r - 1.2246467991473532e-16);
}

KW_MATH double cbrt(double x) {
  double a = fabs(x);
  if (!(a > 0.0 && a < __builtin_inf())) return x;
  const double scale = a < 2.2250738585072014e-308 ? 262144.0
                       : a > 1e307                 ? 3.814697265625e-06
                                                   : 1.0;
  a *= scale * scale * scale;
  double t = __longlong_as_double(__double_as_longlong(a) / 3 + 0x2a9f7893782da1cell);
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const double cube = t * t * t;
    t = t * ((cube + 2.0 * a) / (2.0 * cube + a));
  }
  const double square = t * t, lost = kw_fma(t, t, -square);
  t = t - kw_fma(t, square, kw_fma(t, lost, -a)) / (3.0 * square);
  return copysign(t / scale, x);
}
KW_FN double rcbrt(double x) { return 1.0 / cbrt(x); }
KW_MATH double hypot(double x, double y) {
  const double a = fabs(x), b = fabs(y), inf = __builtin_inf();
  if (a == inf || b == inf) return inf;
  const double high = a > b ? a : b, low = a > b ? b : a;
  const double scale = high > 1e150    ? kw_power_of_two(-600)
                       : high < 1e-150 ? kw_power_of_two(700)
                                       : 1.0;
  const double h = high * scale, l = low * scale;
  const double r = sqrt(kw_fma(h, h, l * l)) * (1.0 / scale);
  return x != x || y != y ? x + y : r;
}
KW_FN double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
KW_FN double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
KW_FN double norm4d(double x, double y, double z, double w) {
  return hypot(hypot(x, y), hypot(z, w));
}
