// Double precision: exponentials, logarithms, powers. The methods are those of exp_float.h.
#pragma once

#include <kw/exp_float.h>
#include <kw/integer.h>

KW_FN double fabs(double x) { return __builtin_fabs(x); }
KW_FN double sqrt(double x) { return __builtin_sqrt(x); }
KW_FN double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
KW_FN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
KW_FN double copysign(double x, double s) { return __builtin_copysign(x, s); }
KW_FN double rint(double x) { return __builtin_rint(x); }

KW_FN double kw_power_of_two(int n) {
  return __longlong_as_double(static_cast<long long>(n + 1023) << 52);
}
KW_FN double kw_scale(double x, int n) {
  const int half = n >> 1;
  return x * kw_power_of_two(half) * kw_power_of_two(n - half);
}
KW_FN double kw_expm1_reduced(double f) {
  const double p = kw_poly(f, 0.5, 0.16666666666666671, 0.041666666666666671, 0.0083333333333259728,
                           0.0013888888888883633, 0.0001984126987538548, 2.480158732595111e-05,
                           2.7557254685728803e-06, 2.7557273132896042e-07, 2.5105513541847086e-08,
                           2.0914898727175524e-09);
  return kw_fma(f * f, p, f);
}
KW_FN double kw_exp_reduce(double x, double& j) {
  j = rint(x * 1.4426950408889634);
  return kw_fma(j, -4.7493250390316726e-07, kw_fma(j, -0.6931467056274414, x));
}
KW_FN double kw_exp_bound(double x) { return x > 710.0 ? 710.0 : x < -746.0 ? -746.0 : x; }
KW_MATH double exp(double x) {
  double j;
  const double f = kw_exp_reduce(kw_exp_bound(x), j);
  return kw_scale(1.0 + kw_expm1_reduced(f), __double2int_rn(j));
}
KW_MATH double expm1(double x) {
  double j;
  const double p = kw_expm1_reduced(kw_exp_reduce(kw_exp_bound(x), j));
  if (j == 0.0) return x == 0.0 ? x : p;
  const int n = __double2int_rn(j - 1.0);
  const double half = n < -1022 ? 0.0 : kw_power_of_two(n);
  return 2.0 * kw_fma(half, p, half - 0.5);
}
KW_MATH double exp2(double x) {
  x = x > 1025.0 ? 1025.0 : x < -1080.0 ? -1080.0 : x;
  const double j = rint(x), f = x - j;
  const double g = kw_fma(f, 2.3190468138462996e-17, f * 0.69314718055994529);
  return kw_scale(1.0 + kw_expm1_reduced(g), __double2int_rn(j));
}
KW_MATH double exp10(double x) {
  x = x > 309.0 ? 309.0 : x < -325.0 ? -325.0 : x;
  const double j = rint(x * 3.3219280948873622);
  const double f = kw_fma(j, -7.508597826552624e-08, kw_fma(j, -0.30102992057800293, x));
  const double g = kw_fma(f, -2.1707562233822494e-16, f * 2.3025850929940459);
  return kw_scale(1.0 + kw_expm1_reduced(g), __double2int_rn(j));
}

KW_FN double kw_split(double x, int& e) {
  e = 0;
  if (x < 2.2250738585072014e-308) {
    x *= 18014398509481984.0;
    e = -54;
  }
  const long long bits = __double_as_longlong(x);
  const int n = static_cast<int>((bits - 0x3fe6a09e667f3bcdll) >> 52);
  e += n;
  return __longlong_as_double(bits - (static_cast<long long>(n) << 52));
}
// As kw_atanh_tail(float), without its first coefficient 2/3: (tail - 2/3) / z.
KW_FN double kw_atanh_tail_rest(double z) {
  return kw_poly(z, 0.39999999999999991, 0.28571428571435858, 0.22222222219710297,
                 0.18181818615177278, 0.15384573450028968, 0.13335711085008436, 0.11686508917312045,
                 0.11896558568412165);
}
KW_FN double kw_log_reduced(double f, double more) {
  const double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
  const double tail = kw_fma(z, kw_atanh_tail_rest(z), 0.66666666666666663);
  return f - (half - kw_fma(s, kw_fma(z, tail, half), more));
}
KW_FN bool kw_log_special(double x) { return !(x > 0.0 && x < __builtin_inf()); }
KW_FN double kw_log_of_special(double x) {
  return x == 0.0 ? -__builtin_inf() : x < 0.0 ? __builtin_nan("") : x;
}
KW_MATH double log(double x) {
  if (kw_log_special(x)) return kw_log_of_special(x);
  int e;
  const double f = kw_split(x, e) - 1.0, n = e;
  return kw_fma(n, 0.6931467056274414, kw_log_reduced(f, n * 4.7493250390316726e-07));
}
KW_MATH double log2(double x) {
  if (kw_log_special(x)) return kw_log_of_special(x);
  int e;
  const double l = kw_log_reduced(kw_split(x, e) - 1.0, 0.0);
  return e + kw_fma(l, 1.4426950408889634, l * 2.0355273740931033e-17);
}
KW_MATH double log10(double x) {
  if (kw_log_special(x)) return kw_log_of_special(x);
  int e;
  const double l = kw_log_reduced(kw_split(x, e) - 1.0, 0.0), n = e;
  const double small = kw_fma(l, 0.43429448190325182, l * 1.0983196502167651e-17);
  return kw_fma(n, 0.30102992057800293, kw_fma(n, 7.508597826552624e-08, small));
}
KW_MATH double log1p(double x) {
  if (fabs(x) < 5.5511151231257827e-17) return x;
  const double u = 1.0 + x;
  if (kw_log_special(u)) return kw_log_of_special(u);
  const double lost = x >= 1.0 ? 1.0 - (u - x) : x - (u - 1.0);
  return log(u) + lost / u;
}

// log2(x) = hi + lo to about 2^-64 relative; x positive and finite.
KW_FN double kw_log2_pair(double x, double& lo) {
  int e;
  const double f = kw_split(x, e) - 1.0;
  const double u = 2.0 + f, u_lo = f - (u - 2.0), r = 1.0 / u;
  const double s = f * r, s_lo = kw_fma(-s, u_lo, kw_fma(-s, u, f)) * r;
  const double z = s * s, z_lo = kw_fma(s, s, -z) + 2.0 * s * s_lo;
  const double cube = s * z, cube_lo = kw_fma(s, z, -cube) + s * z_lo + s_lo * z;
  const double third = cube * 0.66666666666666663;
  const double third_lo = kw_fma(cube, 0.66666666666666663, -third) +
                          cube * 3.7007434154171883e-17 + cube_lo * 0.66666666666666663;
  const double rest = cube * z * kw_atanh_tail_rest(z);
  const double head = 2.0 * s, mid = head + third, mid_lo = third - (mid - head);
  const double tail = mid_lo + (third_lo + rest + 2.0 * s_lo);
  const double h = mid + tail, l = tail - (h - mid);
  const double p = h * 1.4426950408889634;
  const double p_lo = kw_fma(l, 1.4426950408889634,
                             kw_fma(h, 2.0355273740931033e-17, kw_fma(h, 1.4426950408889634, -p)));
  const double n = e, sum = n + p;
  lo = (e == 0 ? 0.0 : p - (sum - n)) + p_lo;
  return sum;
}
KW_FN bool kw_is_odd(double y) {
  return fabs(y) < 9007199254740992.0 && y == rint(y) && (__double2ll_rn(y) & 1) != 0;
}
KW_MATH double pow(double x, double y) {
  if (y == 0.0 || x == 1.0) return 1.0;
  if (x != x || y != y) return x + y;
  const double a = fabs(x), inf = __builtin_inf();
  if (fabs(y) == inf) return a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? inf : 0.0;
  const bool negative = __double_as_longlong(x) < 0 && kw_is_odd(y);
  double result;
  if (a == 0.0 || a == inf) {
    result = (a == 0.0) == (y < 0.0) ? inf : 0.0;
  } else if (x < 0.0 && y != rint(y)) {
    return __builtin_nan("");
  } else {
    double lo;
    const double hi = kw_log2_pair(a, lo);
    const double p = y * hi;
    const double bounded = p > 1030.0 ? 1030.0 : p < -1080.0 ? -1080.0 : p;
    const double p_lo = p == bounded ? kw_fma(y, lo, kw_fma(y, hi, -p)) : 0.0;
    const double j = rint(bounded), f = (bounded - j) + p_lo;
    const double g = kw_fma(f, 2.3190468138462996e-17, f * 0.69314718055994529);
    result = kw_scale(1.0 + kw_expm1_reduced(g), __double2int_rn(j));
  }
  return negative ? -result : result;
}
