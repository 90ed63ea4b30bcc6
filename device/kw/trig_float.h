// Single precision: sine, cosine, tangent, with exact reduction of large arguments.
#pragma once

#include <kw/exp_float.h>

static __constant__ const unsigned kw_two_over_pi[8] = {0x00000000u, 0xa2f9836eu, 0x4e441529u,
                                                        0xfc2757d1u, 0xf534ddc0u, 0xdb629599u,
                                                        0x3c439041u, 0xfe5163abu};
// |x| >= 2^16: the fraction of x / (pi/2) from the bits of 2/pi that matter.
KW_MATH float kw_reduce_large(float x, int& quadrant) {
  const unsigned bits = __float_as_uint(x) & 0x7fffffffu;
  const unsigned long long m = (bits & 0x7fffffu) | 0x800000u;
  const int start = static_cast<int>(bits >> 23) - 150 + 30;  // first needed bit of the table
  const unsigned* t = kw_two_over_pi + (start >> 5);
  const int shift = start & 31;
  const auto word = [&](int i) KW_LAMBDA {
    return shift == 0 ? t[i] : t[i] << shift | t[i + 1] >> (32 - shift);
  };
  const unsigned long long low = m * word(2), middle = m * word(1) + (low >> 32);
  const unsigned high = static_cast<unsigned>(m * word(0) + (middle >> 32));
  const unsigned long long fraction = (static_cast<unsigned long long>(high) << 34) |
                                      ((middle & 0xffffffffull) << 2) |
                                      ((low & 0xffffffffull) >> 30);
  const int q = static_cast<int>(high >> 30) + static_cast<int>(fraction >> 63);
  const float r = static_cast<float>(static_cast<double>(static_cast<long long>(fraction)) *
                                     8.5153039502163861e-20);
  quadrant = x < 0.0f ? -q : q;
  return x < 0.0f ? -r : r;
}
// x = quadrant * pi/2 + result.
KW_FN float kw_trig_reduce(float x, int& quadrant) {
  if (fabsf(x) >= 65536.0f) {
    quadrant = 0;
    return fabsf(x) < __builtin_inff() ? kw_reduce_large(x, quadrant) : __builtin_nanf("");
  }
  const float j = rintf(x * 0.636619747f);
  quadrant = __float2int_rn(j);
  return kw_fma(j, 1.71512451e-15f, kw_fma(j, 4.37113883e-08f, kw_fma(j, -1.57079637f, x)));
}
KW_FN float kw_sin_reduced(float x) {
  const float z = x * x;
  return kw_fma(x * z, kw_poly(z, -0.166666672f, 0.00833333191f, -0.00019840039f, 2.72438115e-06f),
                x);
}
KW_FN float kw_cos_reduced(float x) {
  const float z = x * x;
  const float c = kw_poly(z, 0.0416666679f, -0.00138888881f, 2.48005599e-05f, -2.72958573e-07f);
  return kw_fma(z * z, c, kw_fma(-0.5f, z, 1.0f));
}
KW_FN float kw_sin_quadrant(float r, int q) {
  const float v = (q & 1) != 0 ? kw_cos_reduced(r) : kw_sin_reduced(r);
  return (q & 2) != 0 ? -v : v;
}
KW_MATH float sinf(float x) {
  int q;
  const float r = kw_trig_reduce(x, q);
  return x == 0.0f ? x : kw_sin_quadrant(r, q);
}
KW_MATH float cosf(float x) {
  int q;
  const float r = kw_trig_reduce(x, q);
  return kw_sin_quadrant(r, q + 1);
}
KW_MATH void sincosf(float x, float* s, float* c) {
  int q;
  const float r = kw_trig_reduce(x, q);
  *s = x == 0.0f ? x : kw_sin_quadrant(r, q);
  *c = kw_sin_quadrant(r, q + 1);
}
KW_MATH float tanf(float x) {
  int q;
  const float r = kw_trig_reduce(x, q);
  const float s = kw_sin_reduced(r), c = kw_cos_reduced(r);
  return x == 0.0f ? x : (q & 1) != 0 ? -c / s : s / c;
}
KW_MATH void sincospif(float x, float* s, float* c) {
  const float wrapped = x - 2.0f * rintf(0.5f * x);  // exact, in [-1, 1]; NaN for infinities
  const float j = rintf(2.0f * wrapped);
  const float t = kw_fma(j, -0.5f, wrapped), r = kw_fma(t, 3.14159274f, t * -8.74227766e-08f);
  const int q = __float2int_rn(j);
  *s = x == 0.0f ? x : kw_sin_quadrant(r, q);
  *c = kw_sin_quadrant(r, q + 1);
}
KW_MATH float sinpif(float x) {
  float s, c;
  sincospif(x, &s, &c);
  return s;
}
KW_MATH float cospif(float x) {
  float s, c;
  sincospif(x, &s, &c);
  return c;
}
