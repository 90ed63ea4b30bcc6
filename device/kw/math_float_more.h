// Single precision, the rest: inverse trigonometric, error function, roots, rounding, remainders, classification.
#pragma once

#include <kw/math_float.h>

KW_FN float kw_atan_reduced(float t) {
  const float z = t * t;
  const float p = kw_poly(z, -0.333333343f, 0.199999988f, -0.142856121f, 0.111074694f, -0.0902866423f, 0.0713351369f,
                          -0.0403940231f);
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
  const float p =
      kw_poly(z, 0.166666657f, 0.0750009492f, 0.0445993207f, 0.0311017279f, 0.017143717f, 0.0337007269f);
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
  const float q = kw_poly(t, 1.27697837f, -0.0927638263f, -0.166030407f, 0.164051235f, -0.0542198159f,
                          -0.00803312939f, 0.00872091576f, 0.00126432313f, -0.00144961954f, -0.00042760346f,
                          0.000194208696f, 0.000102042613f);
  const float square = a * a, lost = kw_fma(a, a, -square);
  const float e = expf(-square);
  return kw_fma(-lost, e, e) * (q / kw_fma(2.0f, a, 1.0f));
}
KW_FN float kw_erf_small(float x) {
  const float z = x * x;
  return x * kw_poly(z, 1.12837923f, -0.376126379f, 0.112837821f, -0.0268654302f, 0.00522103161f, -0.000848408032f,
                     0.000112659589f, -9.66704465e-06f);
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
KW_FN float norm4df(float x, float y, float z, float w) { return hypotf(hypotf(x, y), hypotf(z, w)); }
KW_FN float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
KW_FN float rnorm4df(float x, float y, float z, float w) { return 1.0f / norm4df(x, y, z, w); }

KW_FN float floorf(float x) { return __builtin_floorf(x); }
KW_FN float ceilf(float x) { return __builtin_ceilf(x); }
KW_FN float truncf(float x) { return __builtin_truncf(x); }
KW_FN float nearbyintf(float x) { return __builtin_rintf(x); }
KW_FN float roundf(float x) {
  const float t = truncf(x);
  return fabsf(x - t) >= 0.5f ? t + copysignf(1.0f, x) : copysignf(t, x);
}
KW_FN long lrintf(float x) { return __float2ll_rn(x); }
KW_FN long long llrintf(float x) { return __float2ll_rn(x); }
KW_FN long lroundf(float x) { return __float2ll_rn(roundf(x)); }
KW_FN long long llroundf(float x) { return __float2ll_rn(roundf(x)); }
KW_FN float fminf(float a, float b) { return __builtin_fminf(a, b); }
KW_FN float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
KW_FN float fdimf(float a, float b) { return a > b || a != a || b != b ? a - b : 0.0f; }
KW_FN float frexpf(float x, int* e) {
  *e = 0;
  if (x == 0.0f || !(fabsf(x) < __builtin_inff())) return x;
  const bool tiny = fabsf(x) < 1.17549435e-38f;
  const int bits = __float_as_int(tiny ? x * 16777216.0f : x);
  *e = ((bits >> 23) & 255) - (tiny ? 150 : 126);
  return __int_as_float((bits & 0x807fffff) | 0x3f000000);
}
KW_FN float ldexpf(float x, int n) {
  n = n > 290 ? 290 : n < -290 ? -290 : n;
  const int first = n / 3, last = n - 2 * first;  // three steps reach from the largest to the smallest number
  const float a = __int_as_float((first + 127) << 23), b = __int_as_float((last + 127) << 23);
  return n < 0 ? x * b * a * a : x * a * a * b;
}
KW_FN float scalbnf(float x, int n) { return ldexpf(x, n); }
KW_FN float scalblnf(float x, long n) { return ldexpf(x, n > 999 ? 999 : n < -999 ? -999 : static_cast<int>(n)); }
KW_FN int ilogbf(float x) {
  int e;
  frexpf(x, &e);
  return x == 0.0f ? -2147483647 - 1 : x != x ? -2147483647 - 1 : fabsf(x) == __builtin_inff() ? 2147483647 : e - 1;
}
KW_FN float logbf(float x) {
  const float a = fabsf(x);
  return a == 0.0f ? -__builtin_inff() : a < __builtin_inff() ? static_cast<float>(ilogbf(x)) : x * x;
}
KW_FN float modff(float x, float* whole) {
  *whole = truncf(x);
  return copysignf(fabsf(x) == __builtin_inff() ? 0.0f : x - *whole, x);
}
KW_FN float nextafterf(float x, float y) {
  if (x != x || y != y) return x + y;
  if (x == y) return y;
  if (x == 0.0f) return copysignf(1.40129846e-45f, y);
  return __int_as_float(__float_as_int(x) + ((x < y) == (x > 0.0f) ? 1 : -1));
}
KW_FN float nanf(const char*) { return __builtin_nanf(""); }

// |x| mod |y| exactly, 32 bits of the quotient at a time; also the low bits of the quotient.
KW_MATH float kw_remainder_parts(float a, float b, unsigned& quotient) {
  int ea, eb;
  const unsigned long long ma = static_cast<unsigned long long>(frexpf(a, &ea) * 16777216.0f);
  const unsigned long long mb = static_cast<unsigned long long>(frexpf(b, &eb) * 16777216.0f);
  quotient = 0;
  if (a < b) return a;
  unsigned long long r = ma % mb;
  unsigned long long q = ma / mb;
  for (int left = ea - eb; left > 0;) {
    const int step = left > 32 ? 32 : left;
    r <<= step;
    q = q << step | r / mb;
    r %= mb;
    left -= step;
  }
  quotient = static_cast<unsigned>(q);
  return ldexpf(static_cast<float>(r), eb - 24);
}
KW_FN bool kw_no_remainder(float x, float y) {
  return !(fabsf(x) < __builtin_inff()) || y == 0.0f || y != y;
}
KW_MATH float fmodf(float x, float y) {
  if (kw_no_remainder(x, y)) return __builtin_nanf("");
  if (fabsf(y) == __builtin_inff()) return x;
  unsigned q;
  return copysignf(kw_remainder_parts(fabsf(x), fabsf(y), q), x);
}
KW_MATH float remquof(float x, float y, int* quotient) {
  *quotient = 0;
  if (kw_no_remainder(x, y)) return __builtin_nanf("");
  const float b = fabsf(y);
  if (b == __builtin_inff()) return x;
  unsigned q;
  float r = kw_remainder_parts(fabsf(x), b, q);
  const bool up = b < 2.3509887e-38f ? 2.0f * r > b || (2.0f * r == b && (q & 1) != 0)
                                     : r > 0.5f * b || (r == 0.5f * b && (q & 1) != 0);
  if (up) {
    r -= b;
    ++q;
  }
  const int low = static_cast<int>(q & 0x7fffffff);
  *quotient = (__float_as_int(x) ^ __float_as_int(y)) < 0 ? -low : low;
  return __float_as_int(x) < 0 ? -r : r;
}
KW_FN float remainderf(float x, float y) {
  int q;
  return remquof(x, y, &q);
}
