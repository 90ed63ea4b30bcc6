// Double precision: rounding, scaling, remainders.
#pragma once

#include <kw/exp_double.h>
#include <kw/rounding_float.h>

KW_FN double floor(double x) { return __builtin_floor(x); }
KW_FN double ceil(double x) { return __builtin_ceil(x); }
KW_FN double trunc(double x) { return __builtin_trunc(x); }
KW_FN double nearbyint(double x) { return __builtin_rint(x); }
KW_FN double round(double x) {
  const double t = trunc(x);
  return fabs(x - t) >= 0.5 ? t + copysign(1.0, x) : copysign(t, x);
}
KW_FN long lrint(double x) { return __double2ll_rn(x); }
KW_FN long long llrint(double x) { return __double2ll_rn(x); }
KW_FN long lround(double x) { return __double2ll_rn(round(x)); }
KW_FN long long llround(double x) { return __double2ll_rn(round(x)); }
KW_FN double fmin(double a, double b) { return __builtin_fmin(a, b); }
KW_FN double fmax(double a, double b) { return __builtin_fmax(a, b); }
KW_FN double fdim(double a, double b) { return a > b || a != a || b != b ? a - b : 0.0; }
KW_FN double frexp(double x, int* e) {
  *e = 0;
  if (x == 0.0 || !(fabs(x) < __builtin_inf())) return x;
  const bool tiny = fabs(x) < 2.2250738585072014e-308;
  const long long bits = __double_as_longlong(tiny ? x * 18014398509481984.0 : x);
  *e = static_cast<int>((bits >> 52) & 2047) - (tiny ? 1076 : 1022);
  return __longlong_as_double((bits & static_cast<long long>(0x800fffffffffffffull)) |
                              0x3fe0000000000000ll);
}
KW_FN double ldexp(double x, int n) {
  n = n > 2110 ? 2110 : n < -2110 ? -2110 : n;
  const int first = n / 3, last = n - 2 * first;
  const double a = kw_power_of_two(first), b = kw_power_of_two(last);
  return n < 0 ? x * b * a * a : x * a * a * b;
}
KW_FN double scalbn(double x, int n) { return ldexp(x, n); }
KW_FN double scalbln(double x, long n) {
  return ldexp(x, n > 5000 ? 5000 : n < -5000 ? -5000 : static_cast<int>(n));
}
KW_FN int ilogb(double x) {
  int e;
  frexp(x, &e);
  return x == 0.0 || x != x ? -2147483647 - 1 : fabs(x) == __builtin_inf() ? 2147483647 : e - 1;
}
KW_FN double logb(double x) {
  const double a = fabs(x);
  return a == 0.0 ? -__builtin_inf() : a < __builtin_inf() ? ilogb(x) : x * x;
}
KW_FN double modf(double x, double* whole) {
  *whole = trunc(x);
  return copysign(fabs(x) == __builtin_inf() ? 0.0 : x - *whole, x);
}
KW_FN double nextafter(double x, double y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0.0) return copysign(4.9406564584124654e-324, y);
  return __longlong_as_double(__double_as_longlong(x) + ((x < y) == (x > 0.0) ? 1 : -1));
}
KW_FN double nan(const char*) { return __builtin_nan(""); }

// |x| mod |y| exactly, 10 bits of the quotient at a time.
KW_MATH double kw_remainder_parts(double a, double b, unsigned& quotient) {
  int ea, eb;
  const unsigned long long ma = static_cast<unsigned long long>(frexp(a, &ea) * 9007199254740992.0);
  const unsigned long long mb = static_cast<unsigned long long>(frexp(b, &eb) * 9007199254740992.0);
  quotient = 0;
  if (a < b) return a;
  unsigned long long r = ma % mb, q = ma / mb;
  for (int left = ea - eb; left > 0;) {
    const int step = left > 10 ? 10 : left;
    r <<= step;
    q = q << step | r / mb;
    r %= mb;
    left -= step;
  }
  quotient = static_cast<unsigned>(q);
  return ldexp(static_cast<double>(r), eb - 53);
}
KW_FN bool kw_no_remainder(double x, double y) {
  return !(fabs(x) < __builtin_inf()) || y == 0.0 || y != y;
}
KW_MATH double fmod(double x, double y) {
  if (kw_no_remainder(x, y)) return __builtin_nan("");
  if (fabs(y) == __builtin_inf()) return x;
  unsigned q;
  return copysign(kw_remainder_parts(fabs(x), fabs(y), q), x);
}
KW_MATH double remainder(double x, double y) {
  if (kw_no_remainder(x, y)) return __builtin_nan("");
  const double b = fabs(y);
  if (b == __builtin_inf()) return x;
  unsigned q;
  double r = kw_remainder_parts(fabs(x), b, q);
  const double half = 0.5 * b, twice = 2.0 * r;
  const bool up = b < 4.4501477170144028e-308 ? twice > b || (twice == b && (q & 1) != 0)
                                              : r > half || (r == half && (q & 1) != 0);
  if (up) r -= b;
  return __double_as_longlong(x) < 0 ? -r : r;
}
