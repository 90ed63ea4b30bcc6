// Bessel functions of orders 0 and 1, to about 1e-15 absolute. Below 8 polynomials in x^2; above,
// amplitude and phase.
#pragma once

#include <kw/trig_double.h>

// Polynomials in u = x^2 / 32 - 1 for 0 <= x < 8: j0, j1 / x, and what y0 and y1 have beside the
// logarithm.
KW_MATH double kw_j0_small(double u) {
  return kw_poly(u, 0.045829664859813768, 0.93030124729585717, -0.64846928308718366,
                 -0.80808880766968705, 1.0383794611437211, -0.50746804584710203,
                 0.14598884856759273, -0.028472718610869575, 0.0040580789891404897,
                 -0.00044354592247272207, 3.8473197857391098e-05, -2.717749145023612e-06,
                 1.59561088590422e-07, -7.9154077382447049e-09, 3.3634718597311518e-10,
                 -1.2384637259799405e-11, 3.9908134608982205e-13, -1.1382224219729955e-14,
                 2.8777379277817493e-16);
}
KW_MATH double kw_j1_small(double u) {
  return kw_poly(u, -0.058143827955991073, 0.081058660385897957, 0.15151665143806634,
                 -0.25959486528593029, 0.15858376432721938, -0.054745818212847276,
                 0.01245681439225544, -0.0020290394945702448, 0.00024949458139089642,
                 -2.4045748660869658e-05, 1.8684525372339864e-06, -1.1967081644236786e-07,
                 6.4312687323173256e-09, -2.9430378824414127e-10, 1.1610655460712977e-11,
                 -3.9908103055866118e-13, 1.2060729354963575e-14, -3.2382440004784723e-16,
                 7.7374688408242678e-18);
}
KW_MATH double kw_y0_small(double u) {
  return kw_poly(u, -0.38225065445942502, -0.82843589036045873, 1.6470964788745466,
                 0.14412632369302442, -1.0775477338215995, 0.67217707834317231, -0.2189574709617165,
                 0.046367047681347098, -0.0070257410572698263, 0.00080615860605506439,
                 -7.279541882784614e-05, 5.3213186337351182e-06, -3.2185077885089357e-07,
                 1.6391065268257768e-08, -7.1305169337099293e-10, 2.6818221380030414e-11,
                 -8.8105289803365842e-13, 2.558039399850299e-14, -6.574025715773563e-16);
}
KW_MATH double kw_y1_small(double u) {
  return kw_poly(u, 0.070759858821180049, -0.24337743079193114, 0.023367571720993584,
                 0.23507209206669755, -0.19639839859930425, 0.078547869222425445,
                 -0.01962875683309943, 0.0034224907399180455, -0.00044381734351146775,
                 4.4674330129144127e-05, -3.6009998744473716e-06, 2.3804929913660285e-07,
                 -1.3153322399152461e-08, 6.1697426133323363e-10, -2.4887660208109366e-11,
                 8.7288101351943749e-13, -2.6871227060018649e-14, 7.339060890229824e-16,
                 -1.7813894174933314e-17);
}
// sqrt(2 / (pi x)) (P cos(x - shift) - Q sin(x - shift)) for x >= 8; shift = pi/4 (order 0) or 3
// pi/4 (order 1).
struct kw_bessel_waves {
  double j, y;
};
KW_MATH kw_bessel_waves kw_bessel_large(double x, bool one) {
  const double r = 8.0 / x, u = 2.0 * r * r - 1.0;
  const double p0 =
      kw_poly(u, 0.99945727578825194, -0.0005363673192130046, 6.1374160801608496e-06,
              -2.0527448156495066e-07, 1.2803760619529231e-08, -1.2121181917899886e-09,
              1.5501058085561605e-10, -2.4882755278127451e-11, 4.7729259058009562e-12,
              -1.0635980595216018e-12, 2.6594866926829669e-13, -6.4238633170286657e-14,
              1.839323047121498e-14, -1.1778137922744418e-14, 4.2853443206445628e-15);
  const double q0 =
      kw_poly(u, -0.12444091103610815, 0.000546651927947526, -1.1817110661178995e-05,
              5.6849718819458211e-07, -4.5349728729154898e-08, 5.1462314473929082e-09,
              -7.5763089835759637e-10, 1.3623551327470025e-10, -2.8713401225548949e-11,
              6.9508845092529119e-12, -1.8645095340414151e-12, 4.6123132250707979e-13,
              -1.3804814538584404e-13, 1.0162670211167594e-13, -3.8659683226954667e-14);
  const double p1 =
      kw_poly(u, 1.0009070262780821, 0.00089880494167055784, -7.9596946984925211e-06,
              2.4536766222869611e-07, -1.4708512124130545e-08, 1.3603057890123779e-09,
              -1.7131594957408771e-10, 2.7204123552148816e-11, -5.1763021233265067e-12,
              1.1461306026400314e-12, -2.8514106190225239e-13, 6.8719168688927925e-14,
              -1.961627571558179e-14, 1.2466964342989236e-14, -4.5247520559705565e-15);
  const double q1 =
      kw_poly(u, 0.37421499221959181, -0.00076971670576436995, 1.4569614809828342e-05,
              -6.6335685612520339e-07, 5.1361060343864869e-08, -5.7208907261085692e-09,
              8.3160547682628274e-10, -1.4816645190838213e-10, 3.1010145209892632e-11,
              -7.4641600520405205e-12, 1.9931453497550059e-12, -4.9233393898515183e-13,
              1.4696599919708492e-13, -1.073572214809827e-13, 4.0747053846272142e-14);
  const double p = one ? p1 : p0, q = (one ? q1 : q0) / x;
  double s, c;
  sincos(x, &s, &c);
  const double half = 0.70710678118654757;
  const double cosine = one ? half * (s - c) : half * (c + s);
  const double sine = one ? -half * (s + c) : half * (s - c);
  const double amplitude = 0.79788456080286541 / sqrt(x);
  return {amplitude * (p * cosine - q * sine), amplitude * (p * sine + q * cosine)};
}
KW_FN double kw_bessel_u(double x) { return kw_fma(x * x, 0.03125, -1.0); }

KW_MATH double j0(double x) {
  const double a = fabs(x);
  if (a == __builtin_inf()) return 0.0;
  return a < 8.0 ? kw_j0_small(kw_bessel_u(a)) : kw_bessel_large(a, false).j;
}
KW_MATH double j1(double x) {
  const double a = fabs(x);
  if (a == __builtin_inf()) return 0.0;
  const double r = a < 8.0 ? a * kw_j1_small(kw_bessel_u(a)) : kw_bessel_large(a, true).j;
  return x < 0.0 ? -r : r;
}
KW_MATH double y0(double x) {
  if (x < 0.0) return __builtin_nan("");
  if (x == 0.0) return -__builtin_inf();
  if (x == __builtin_inf()) return 0.0;
  if (!(x < 8.0)) return kw_bessel_large(x, false).y;
  const double u = kw_bessel_u(x);
  return kw_fma(0.63661977236758138 * log(x), kw_j0_small(u), kw_y0_small(u));
}
KW_MATH double y1(double x) {
  if (x < 0.0) return __builtin_nan("");
  if (x == 0.0) return -__builtin_inf();
  if (x == __builtin_inf()) return 0.0;
  if (!(x < 8.0)) return kw_bessel_large(x, true).y;
  const double u = kw_bessel_u(x);
  return x * kw_y1_small(u) + 0.63661977236758138 * (log(x) * x * kw_j1_small(u) - 1.0 / x);
}
KW_FN float j0f(float x) { return static_cast<float>(j0(static_cast<double>(x))); }
KW_FN float j1f(float x) { return static_cast<float>(j1(static_cast<double>(x))); }
KW_FN float y0f(float x) { return static_cast<float>(y0(static_cast<double>(x))); }
KW_FN float y1f(float x) { return static_cast<float>(y1(static_cast<double>(x))); }
