// Double precision: error and gamma functions; lgammaf and tgammaf go through them.
#pragma once

#include <kw/trig_double.h>

KW_FN double kw_erfc_tail(double a) {
  a = a > 27.3 ? 27.3 : a;
  const double t = (a - 3.0) / (a + 3.0);
  const double q = kw_poly(t, 1.2530080582697296, -0.1356211061245812, -0.047562294353451183,
                           0.12964515870276264, -0.11927366341527443, 0.068308027343921968,
                           -0.023770514919649637, 0.0025293918167400005, 0.001888690373493277,
                           -0.00077983227598108699, -0.00010515991433008967, 0.00012509936150651221,
                           4.9500487827469071e-06, -2.0100556338631617e-05, -7.3331348433879225e-07,
                           3.4722808419901972e-06, 3.6067145753609483e-07, -6.162720141812596e-07,
                           -1.4700485214690723e-07, 1.013239614639666e-07, 4.6689134166430041e-08,
                           -1.2912242595929452e-08, -1.10725112837457e-08, 8.5743632493048907e-10,
                           1.4912874363518565e-09);
  const double square = a * a, lost = kw_fma(a, a, -square), e = exp(-square);
  return kw_fma(-lost, e, e) * (q / kw_fma(2.0, a, 1.0));
}
KW_FN double kw_erf_small(double x) {
  const double z = x * x;
  return x * kw_poly(z, 1.1283791670955126, -0.37612638903183754, 0.11283791670955121,
                     -0.02686617064512984, 0.0052239776254232985, -0.00085483270219348297,
                     0.00012055332902888736, -1.4925647567519332e-05, 1.6462045441468418e-06,
                     -1.6364642158167616e-07, 1.4792401209404813e-08, -1.216456005728345e-09,
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
  return kw_poly(z, 1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360,
                 1.0 / 156, -3617.0 / 122400);
}
// log(gamma(x)) for x > 0. Near 1 and 2, where it vanishes, a fit keeps the relative error small.
KW_MATH double kw_lgamma_positive(double x) {
  const bool near_one = fabs(x - 1.0) <= 0.3, near_two = fabs(x - 2.0) <= 0.3;
  if (near_one || near_two) {
    const double t = near_one ? x - 1.0 : x - 2.0;
    const double p = kw_poly(
        t, -0.57721566490153287, 0.8224670334241132, -0.40068563438654287, 0.27058080842779553,
        -0.20738555102450951, 0.16955717699342632, -0.14404989735486673, 0.12550967008505862,
        -0.11133422408971022, 0.10009941756647936, -0.090955722590918622, 0.083355471088914251,
        -0.07689033732218066, 0.071392621809060072, -0.067309165374610957, 0.063113203492666081,
        -0.053039356606737517, 0.050026726746169523, -0.080428219427864073, 0.076560703231542585);
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
  const double half_power =
      pow(x, kw_fma(0.5, x, -0.25));  // its square may overflow before the result does
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
