// Single precision: hyperbolic and inverse functions, error function, roots.
#pragma once

#include <kw/trig_float.h>

KW_MATH float tanhf(float x) {
  const float a = fabsf(x);
  const float e = expm1f(a > 20.0f ? 40.0f : 2.0f * a);
  return x != x ? x : copysignf(e / (e + 2.0f), x);
}
// exp(a) / 2 without overflow before the result overflows.
KW_FN float kw_half_exp_large(float a) {
  const float t = expf(0.5f * a);
  return 0.5f * t * t;
}
KW_MATH float sinhf(float x) {
  const float a = fabsf(x), e = expm1f(a);
  return copysignf(a > 88.0f ? kw_half_exp_large(a) : 0.5f * (e + e / (e + 1.0f)), x);
}
KW_MATH float coshf(float x) {
  const float a = fabsf(x), e = expf(a);
  return a > 88.0f ? kw_half_exp_large(a) : kw_fma(0.5f, e, 0.5f / e);
}
KW_MATH float asinhf(float x) {
  const float a = fabsf(x);
  const float r =
      a > 4096.0f ? logf(a) + 0.693147182f : log1pf(a + a * a / (1.0f + sqrtf(kw_fma(a, a, 1.0f))));
  return copysignf(r, x);
}
KW_MATH float acoshf(float x) {
  const float t = x - 1.0f;
  if (x < 1.0f) return __builtin_nanf("");
  return x > 4096.0f ? logf(x) + 0.693147182f : log1pf(t + sqrtf(kw_fma(t, t, 2.0f * t)));
}
KW_MATH float atanhf(float x) {
  const float a = fabsf(x);
  return copysignf(0.5f * log1pf(2.0f * a / (1.0f - a)), x);
}

KW_FN float kw_atan_reduced(float t) {
  const float z = t * t;
  const float p = kw_poly(z, -0.333333343f, 0.199999988f, -0.142856121f, 0.111074694f,
                          -0.0902866423f, 0.0713351369f, -0.0403940231f);
  return kw_fma(t * z, p, t);
}
KW_MATH float atanf(float x) {
  const float a = fabsf(x);
  float r;
  if (a > 2.41421366f) {
    r = 1.57079637f + (kw_atan_reduced(-1.0f / a) - 4.37113883e-08f);
  } else if (a > 0.414213568f) {
    r = 0.785398185f + (kw_atan_reduced((a - 1.0f) / (a + 1.0f)) - 2.18556941e-08f);
  } else {
    r = kw_atan_reduced(a);
  }
  return copysignf(r, x);
}
KW_MATH float atan2f(float y, float x) {
  if (x != x || y != y) return x + y;
  const float a = fabsf(y), b = fabsf(x), high = a > b ? a : b, low = a > b ? b : a;
  float r = high == 0.0f ? 0.0f : low == high ? 0.785398185f : atanf(low / high);
  if (a > b) r = 1.57079637f - (r + 4.37113883e-08f);
  if (__float_as_int(x) < 0) r = 3.14159274f - (r + 8.74227766e-08f);
  return copysignf(r, y);
}
KW_FN float kw_asin_reduced(float x, float z) {
  const float p = kw_poly(z, 0.166666657f, 0.0750009492f, 0.0445993207f, 0.0311017279f,
                          0.017143717f, 0.0337007269f);
  return kw_fma(x * z, p, x);
}
KW_MATH float asinf(float x) {
  const float a = fabsf(x);
  if (a <= 0.5f) return kw_asin_reduced(x, x * x);
  const float z = kw_fma(-0.5f, a, 0.5f), s = sqrtf(z);
  return copysignf(1.57079637f - (2.0f * kw_asin_reduced(s, z) + 4.37113883e-08f), x);
}
KW_MATH float acosf(float x) {
  const float a = fabsf(x);
  if (a <= 0.5f) return 1.57079637f - (kw_asin_reduced(x, x * x) + 4.37113883e-08f);
  const float z = kw_fma(-0.5f, a, 0.5f), s = sqrtf(z), r = 2.0f * kw_asin_reduced(s, z);
  return x > 0.0f ? r : 3.14159274f - (r + 8.74227766e-08f);
}

// erfc(a) for a >= 0.5.
KW_FN float kw_erfc_tail(float a) {
  a = a > 10.1f ? 10.1f : a;
  const float t = (a - 2.0f) / (a + 2.0f);
  const float q = kw_poly(t, 1.27697837f, -0.0927638263f, -0.166030407f, 0.164051235f,
                          -0.0542198159f, -0.00803312939f, 0.00872091576f, 0.00126432313f,
                          -0.00144961954f, -0.00042760346f, 0.000194208696f, 0.000102042613f);
  const float square = a * a, lost = kw_fma(a, a, -square);
  const float e = expf(-square);
  return kw_fma(-lost, e, e) * (q / kw_fma(2.0f, a, 1.0f));
}
KW_FN float kw_erf_small(float x) {
  const float z = x * x;
  return x * kw_poly(z, 1.12837923f, -0.376126379f, 0.112837821f, -0.0268654302f, 0.00522103161f,
                     -0.000848408032f, 0.000112659589f, -9.66704465e-06f);
}
KW_MATH float erff(float x) {
  const float a = fabsf(x);
  if (a < 1.0f || x != x) return kw_erf_small(x);
  return copysignf(1.0f - kw_erfc_tail(a), x);
}
KW_MATH float erfcf(float x) {
  const float a = fabsf(x);
  if (a < 0.5f || x != x) return 1.0f - kw_erf_small(x);
  const float r = kw_erfc_tail(a);
  return x < 0.0f ? 2.0f - r : r;
}
KW_MATH float normcdff(float x) { return 0.5f * erfcf(x * -0.707106769f); }

KW_MATH float cbrtf(float x) {
  float a = fabsf(x);
  if (!(a > 0.0f && a < __builtin_inff())) return x;
  // Away from both ends of the range, by a cube of a power of two.
  const float scale = a < 1.17549435e-38f ? 256.0f : a > 1e37f ? 0.00390625f : 1.0f;
  a *= scale * scale * scale;
  float t = __int_as_float(__float_as_int(a) / 3 + 709958130);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const float cube = t * t * t;
    t = t * ((cube + 2.0f * a) / (2.0f * cube + a));
  }
  const float square = t * t, lost = kw_fma(t, t, -square);
  t = t - kw_fma(t, square, kw_fma(t, lost, -a)) / (3.0f * square);
  return copysignf(t / scale, x);
}
KW_FN float rcbrtf(float x) { return 1.0f / cbrtf(x); }
KW_MATH float hypotf(float x, float y) {
  const float a = fabsf(x), b = fabsf(y), inf = __builtin_inff();
  if (a == inf || b == inf) return inf;
  const float high = a > b ? a : b, low = a > b ? b : a;
  const float scale = high > 1e18f ? 5.42101086e-20f : high < 1e-18f ? 1.26765060e+30f : 1.0f;
  const float h = high * scale, l = low * scale;
  const float r = sqrtf(kw_fma(h, h, l * l)) * (scale == 1.0f ? 1.0f : 1.0f / scale);
  return x != x || y != y ? x + y : r;
}
KW_FN float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
KW_FN float norm3df(float x, float y, float z) { return hypotf(hypotf(x, y), z); }
KW_FN float norm4df(float x, float y, float z, float w) {
  return hypotf(hypotf(x, y), hypotf(z, w));
}
KW_FN float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
KW_FN float rnorm4df(float x, float y, float z, float w) { return 1.0f / norm4df(x, y, z, w); }
