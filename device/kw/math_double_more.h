// Double precision, the rest: hyperbolic, inverse trigonometric, error and gamma functions, rounding, remainders.
#pragma once

#include <kw/math_double.h>
#include <kw/math_float_more.h>

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
  const double p = kw_poly(z, -0.33333333333333331, 0.1999999999999999, -0.14285714285711462, 0.11111111110748204,
                           -0.090909090666206185, 0.076923067223419725, -0.066666417173027404, 0.058819208480819431,
                           -0.052579989063322383, 0.047191229424329038, -0.041033377467417725, 0.030610274694365835,
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
  const double p = kw_poly(z, 0.16666666666666666, 0.075000000000001191, 0.044642857142550188, 0.030381944475693704,
                           0.022372157435623815, 0.017352816768546473, 0.013963775787848137, 0.011566511821890944,
                           0.0096214027473448243, 0.0093221015010828048, 0.0030350071727266508, 0.01957920161974494,
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

KW_FN double kw_erfc_tail(double a) {
  a = a > 27.3 ? 27.3 : a;
  const double t = (a - 3.0) / (a + 3.0);
  const double q = kw_poly(
      t, 1.2530080582697296, -0.1356211061245812, -0.047562294353451183, 0.12964515870276264, -0.11927366341527443,
      0.068308027343921968, -0.023770514919649637, 0.0025293918167400005, 0.001888690373493277,
      -0.00077983227598108699, -0.00010515991433008967, 0.00012509936150651221, 4.9500487827469071e-06,
      -2.0100556338631617e-05, -7.3331348433879225e-07, 3.4722808419901972e-06, 3.6067145753609483e-07,
      -6.162720141812596e-07, -1.4700485214690723e-07, 1.013239614639666e-07, 4.6689134166430041e-08,
      -1.2912242595929452e-08, -1.10725112837457e-08, 8.5743632493048907e-10, 1.4912874363518565e-09);
  const double square = a * a, lost = kw_fma(a, a, -square), e = exp(-square);
  return kw_fma(-lost, e, e) * (q / kw_fma(2.0, a, 1.0));
}
KW_FN double kw_erf_small(double x) {
  const double z = x * x;
  return x * kw_poly(z, 1.1283791670955126, -0.37612638903183754, 0.11283791670955121, -0.02686617064512984,
                     0.0052239776254232985, -0.00085483270219348297, 0.00012055332902888736, -1.4925647567519332e-05,
                     1.6462045441468418e-06, -1.6364642158167616e-07, 1.4792401209404813e-08, -1.216456005728345e-09,
                     8.7090451290531049e-11, -4.2309458242953361e-12);
}
KW_MATH double erf(double x) {
  const double a = fabs(x);
  if (a < 1.0 || x != x) return kw_erf_small(x);
  return copysign(1.0 - kw_erfc_tail(a), x);
}
KW_MATH double erfc(double x) {
  const double a = fabs(x);
  if (a < 0.5 || x != x) return 1.0 - kw_erf_small(x);
  const double r = kw_erfc_tail(a);
  return x < 0.0 ? 2.0 - r : r;
}
KW_MATH double normcdf(double x) { return 0.5 * erfc(x * -0.70710678118654757); }

// x (log(gamma(x)) - ((x - 1/2) log(x) - x + log(2 pi) / 2)) for x >= 10, z = 1 / x^2.
KW_FN double kw_stirling_tail(double z) {
  return kw_poly(z, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156,
                 -3617.0 / 122400);
}
// log(gamma(x)) for x > 0. Near 1 and 2, where it vanishes, a fit keeps the relative error small.
KW_MATH double kw_lgamma_positive(double x) {
  const bool near_one = fabs(x - 1.0) <= 0.3, near_two = fabs(x - 2.0) <= 0.3;
  if (near_one || near_two) {
    const double t = near_one ? x - 1.0 : x - 2.0;
    const double p = kw_poly(t, -0.57721566490153287, 0.8224670334241132, -0.40068563438654287, 0.27058080842779553,
                             -0.20738555102450951, 0.16955717699342632, -0.14404989735486673, 0.12550967008505862,
                             -0.11133422408971022, 0.10009941756647936, -0.090955722590918622, 0.083355471088914251,
                             -0.07689033732218066, 0.071392621809060072, -0.067309165374610957, 0.063113203492666081,
                             -0.053039356606737517, 0.050026726746169523, -0.080428219427864073,
                             0.076560703231542585);
    return (near_one ? t * p : kw_fma(t, p, log1p(t))) + 0.0;  // never -0
  }
  double product = 1.0;
  while (x < 10.0) {
    product *= x;
    x += 1.0;
  }
  const double r = 1.0 / x, z = r * r;
  const double tail = kw_stirling_tail(z);
  const double main = kw_fma(x - 0.5, log(x), 0.91893853320467278 - x) + r * tail;
  return product == 1.0 ? main : main - log(product);
}
KW_MATH double lgamma(double x) {
  const double inf = __builtin_inf();
  if (x != x) return x;
  if (fabs(x) == inf || (x <= 0.0 && x == __builtin_floor(x))) return inf;
  if (x > 0.0) return kw_lgamma_positive(x);
  if (x > -1e-17) return -log(-x);
  return log(3.1415926535897931 / fabs(x * sinpi(x))) - kw_lgamma_positive(-x);
}
KW_MATH double kw_tgamma_positive(double x) {
  if (x > 172.0) return __builtin_inf();
  double product = 1.0;
  while (x < 10.0) {
    product *= x;
    x += 1.0;
  }
  const double r = 1.0 / x;
  const double half_power = pow(x, kw_fma(0.5, x, -0.25));  // its square may overflow before the result does
  const double factor = exp(-x) * 2.5066282746310007 * exp(r * kw_stirling_tail(r * r));
  return half_power * factor * half_power / product;
}
KW_MATH double tgamma(double x) {
  if (x != x || x == __builtin_inf()) return x;
  if (fabs(x) < 1e-17) return 1.0 / x;
  if (x < 0.0 && x == __builtin_floor(x)) return __builtin_nan("");
  if (x > 0.0) return kw_tgamma_positive(x);
  if (x < -171.0) return 0.0;
  return -3.1415926535897931 / (x * sinpi(x) * kw_tgamma_positive(-x));
}
KW_FN float lgammaf(float x) { return static_cast<float>(lgamma(static_cast<double>(x))); }
KW_FN float tgammaf(float x) { return static_cast<float>(tgamma(static_cast<double>(x))); }

KW_MATH double cbrt(double x) {
  double a = fabs(x);
  if (!(a > 0.0 && a < __builtin_inf())) return x;
  const double scale = a < 2.2250738585072014e-308 ? 262144.0 : a > 1e307 ? 3.814697265625e-06 : 1.0;
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
  const double scale = high > 1e150 ? kw_power_of_two(-600) : high < 1e-150 ? kw_power_of_two(700) : 1.0;
  const double h = high * scale, l = low * scale;
  const double r = sqrt(kw_fma(h, h, l * l)) * (1.0 / scale);
  return x != x || y != y ? x + y : r;
}
KW_FN double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
KW_FN double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
KW_FN double norm4d(double x, double y, double z, double w) { return hypot(hypot(x, y), hypot(z, w)); }

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
  return __longlong_as_double((bits & static_cast<long long>(0x800fffffffffffffull)) | 0x3fe0000000000000ll);
}
KW_FN double ldexp(double x, int n) {
  n = n > 2110 ? 2110 : n < -2110 ? -2110 : n;
  const int first = n / 3, last = n - 2 * first;
  const double a = kw_power_of_two(first), b = kw_power_of_two(last);
  return n < 0 ? x * b * a * a : x * a * a * b;
}
KW_FN double scalbn(double x, int n) { return ldexp(x, n); }
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
KW_FN bool kw_no_remainder(double x, double y) { return !(fabs(x) < __builtin_inf()) || y == 0.0 || y != y; }
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
