// Double precision: sine, cosine, tangent, with exact reduction of large arguments.
#pragma once

#include <kw/exp_double.h>

static __constant__ const unsigned long long kw_two_over_pi_wide[21] = {
    0x0000000000000000ull, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull,
    0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull,
    0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull,
    0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
    0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull,
    0xf0cfbc209af4361dull};
KW_MATH double kw_reduce_large(double x, int& quadrant) {
  const unsigned long long bits =
      static_cast<unsigned long long>(__double_as_longlong(x)) & 0x7fffffffffffffffull;
  const unsigned long long m = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
  const int start = static_cast<int>(bits >> 52) - 1075 + 62;  // first needed bit of the table
  const unsigned long long* t = kw_two_over_pi_wide + (start >> 6);
  const int shift = start & 63;
  const auto word = [&](int i) KW_LAMBDA {
    return shift == 0 ? t[i] : t[i] << shift | t[i + 1] >> (64 - shift);
  };
  const unsigned long long w0 = word(0), w1 = word(1), w2 = word(2);
  const unsigned long long low_high = __umul64hi(m, w2);
  unsigned long long middle = m * w1;
  unsigned long long high = m * w0 + __umul64hi(m, w1);
  middle += low_high;
  high += middle < low_high ? 1 : 0;
  int q = static_cast<int>(high >> 62);
  unsigned long long top = high << 2 | middle >> 62, next = middle << 2;
  const bool negative = (top >> 63) != 0;
  if (negative) {
    ++q;
    next = ~next;
    top = ~top;
  }
  const int zeros = __clzll(static_cast<long long>(top));
  const unsigned long long kept = zeros == 0    ? top
                                  : zeros == 64 ? next
                                                : top << zeros | next >> (64 - zeros);
  // kept / 2^(64 + zeros) turns of a quarter circle
  double r = static_cast<double>(kept) * 8.5153039502163856e-20 * kw_power_of_two(-zeros);
  if (negative != (x < 0.0)) r = -r;
  quadrant = x < 0.0 ? -q : q;
  return r;
}
KW_FN double kw_trig_reduce(double x, int& quadrant) {
  if (fabs(x) >= 1048576.0) {
    quadrant = 0;
    return fabs(x) < __builtin_inf() ? kw_reduce_large(x, quadrant) : __builtin_nan("");
  }
  const double j = rint(x * 0.63661977236758138);
  quadrant = __double2int_rn(j);
  return kw_fma(j, 1.4973849048591698e-33,
                kw_fma(j, -6.123233995736766e-17, kw_fma(j, -1.5707963267948966, x)));
}
KW_FN double kw_sin_reduced(double x) {
  const double z = x * x;
  return kw_fma(x * z,
                kw_poly(z, -0.16666666666666666, 0.0083333333333333315, -0.00019841269841264569,
                        2.7557319218956732e-06, -2.5052106100926675e-08, 1.6058510979535349e-10,
                        -7.5854925078212401e-13),
                x);
}
KW_FN double kw_cos_reduced(double x) {
  const double z = x * x;
  const double c = kw_poly(z, 0.041666666666666664, -0.0013888888888888887, 2.4801587301584371e-05,
                           -2.7557319221190198e-07, 2.0876755717957292e-09, -1.1470449412409599e-11,
                           4.7452021556969264e-14);
  return kw_fma(z * z, c, kw_fma(-0.5, z, 1.0));
}
KW_FN double kw_sin_quadrant(double r, int q) {
  const double v = (q & 1) != 0 ? kw_cos_reduced(r) : kw_sin_reduced(r);
  return (q & 2) != 0 ? -v : v;
}
KW_MATH double sin(double x) {
  int q;
  const double r = kw_trig_reduce(x, q);
  return x == 0.0 ? x : kw_sin_quadrant(r, q);
}
KW_MATH double cos(double x) {
  int q;
  const double r = kw_trig_reduce(x, q);
  return kw_sin_quadrant(r, q + 1);
}
KW_MATH void sincos(double x, double* s, double* c) {
  int q;
  const double r = kw_trig_reduce(x, q);
  *s = x == 0.0 ? x : kw_sin_quadrant(r, q);
  *c = kw_sin_quadrant(r, q + 1);
}
KW_MATH double tan(double x) {
  int q;
  const double r = kw_trig_reduce(x, q);
  const double s = kw_sin_reduced(r), c = kw_cos_reduced(r);
  return x == 0.0 ? x : (q & 1) != 0 ? -c / s : s / c;
}
KW_MATH void sincospi(double x, double* s, double* c) {
  const double wrapped = x - 2.0 * rint(0.5 * x);
  const double j = rint(2.0 * wrapped);
  const double t = kw_fma(j, -0.5, wrapped),
               r = kw_fma(t, 3.1415926535897931, t * 1.2246467991473532e-16);
  const int q = __double2int_rn(j);
  *s = x == 0.0 ? x : kw_sin_quadrant(r, q);
  *c = kw_sin_quadrant(r, q + 1);
}
KW_MATH double sinpi(double x) {
  double s, c;
  sincospi(x, &s, &c);
  return s;
}
KW_MATH double cospi(double x) {
  double s, c;
  sincospi(x, &s, &c);
  return c;
}
