// Single precision: exponentials, logarithms, powers; a few ulp, without NVIDIA's libdevice.
// Polynomials are Chebyshev fits of our own on the reduced ranges; each is named after the function it
// approximates.
#pragma once

#include <kw/base.h>
#include <kw/convert.h>
#include <kw/float.h>

KW_FN float kw_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
KW_FN double kw_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
template <typename T>
KW_FN T kw_poly(T, T c) {
  return c;
}
// c0 + x (c1 + x (c2 + …))
template <typename T, typename... More>
KW_FN T kw_poly(T x, T c, More... more) {
  return kw_fma(x, kw_poly(x, more...), c);
}

KW_FN float fabsf(float x) { return __builtin_fabsf(x); }
KW_FN float sqrtf(float x) { return __builtin_sqrtf(x); }
KW_FN float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
KW_FN float copysignf(float x, float s) { return __builtin_copysignf(x, s); }
KW_FN float rintf(float x) { return __builtin_rintf(x); }

// x * 2^n in two exact steps, so that results below the normal range round once only.
KW_FN float kw_scale(float x, int n) {
  const int half = n >> 1;
  return x * __int_as_float((half + 127) << 23) * __int_as_float((n - half + 127) << 23);
}

// exp(f) - 1 for |f| <= ln(2) / 2.
KW_FN float kw_expm1_reduced(float f) {
  const float p =
      kw_poly(f, 0.5f, 0.166666672f, 0.041666463f, 0.00833331048f, 0.00139339f, 0.00019891269f);
  return kw_fma(f * f, p, f);
}
KW_FN float kw_exp_reduce(float x, float& j) {
  j = rintf(x * 1.44269502f);
  return kw_fma(j, -1.42860677e-06f, kw_fma(j, -0.693145752f, x));
}
KW_MATH float expf(float x) {
  x = x > 89.0f ? 89.0f : x < -105.0f ? -105.0f : x;
  float j;
  const float f = kw_exp_reduce(x, j);
  return kw_scale(1.0f + kw_expm1_reduced(f), __float2int_rn(j));
}
KW_MATH float expm1f(float x) {
  x = x > 89.0f ? 89.0f : x < -105.0f ? -105.0f : x;
  float j;
  const float p = kw_expm1_reduced(kw_exp_reduce(x, j));
  if (j == 0.0f) return x == 0.0f ? x : p;
  const int n = __float2int_rn(j - 1.0f);
  const float half = n < -126 ? 0.0f : __int_as_float((n + 127) << 23);
  return 2.0f * kw_fma(half, p, half - 0.5f);
}
KW_FN float exp2f(float x) { return kw_ex2(x); }
KW_MATH float exp10f(float x) {
  x = x > 39.0f ? 39.0f : x < -46.0f ? -46.0f : x;
  const float j = rintf(x * 3.32192802f);
  const float f = kw_fma(j, -4.60503907e-06f, kw_fma(j, -0.301025391f, x));
  const float g = kw_fma(f, -3.19754356e-08f, f * 2.30258512f);
  return kw_scale(1.0f + kw_expm1_reduced(g), __float2int_rn(j));
}

// x = m 2^e with m in [sqrt(1/2), sqrt(2)); x positive and finite.
KW_FN float kw_split(float x, int& e) {
  e = 0;
  if (x < 1.17549435e-38f) {
    x *= 16777216.0f;
    e = -24;
  }
  const int bits = __float_as_int(x);
  const int n = (bits - 0x3f3504f3) >> 23;
  e += n;
  return __int_as_float(bits - (n << 23));
}
// (2 atanh(s) - 2 s) / s^3 for |s| <= 0.172, z = s^2.
KW_FN float kw_atanh_tail(float z) {
  return kw_poly(z, 0.666666687f, 0.400001258f, 0.285503983f, 0.233419433f);
}
// log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)), plus `more`.
KW_FN float kw_log_reduced(float f, float more) {
  const float s = f / (2.0f + f), z = s * s, half = 0.5f * f * f;
  return f - (half - kw_fma(s, kw_fma(z, kw_atanh_tail(z), half), more));
}
KW_FN bool kw_log_special(float x) { return !(x > 0.0f && x < __builtin_inff()); }
KW_FN float kw_log_of_special(float x) {
  return x == 0.0f ? -__builtin_inff() : x < 0.0f ? __builtin_nanf("") : x;
}
KW_MATH float logf(float x) {
  if (kw_log_special(x)) return kw_log_of_special(x);
  int e;
  const float f = kw_split(x, e) - 1.0f, n = static_cast<float>(e);
  return kw_fma(n, 0.693145752f, kw_log_reduced(f, n * 1.42860677e-06f));
}
KW_MATH float log2f(float x) {
  if (kw_log_special(x)) return kw_log_of_special(x);
  int e;
  const float l = kw_log_reduced(kw_split(x, e) - 1.0f, 0.0f);
  return static_cast<float>(e) + kw_fma(l, 1.44269502f, l * 1.92596303e-08f);
}
KW_MATH float log10f(float x) {
  if (kw_log_special(x)) return kw_log_of_special(x);
  int e;
  const float l = kw_log_reduced(kw_split(x, e) - 1.0f, 0.0f), n = static_cast<float>(e);
  return kw_fma(n, 0.301025391f,
                kw_fma(n, 4.60503907e-06f, kw_fma(l, 0.434294492f, l * -1.010305e-08f)));
}
KW_MATH float log1pf(float x) {
  if (fabsf(x) < 2.98023224e-08f) return x;
  const float u = 1.0f + x;
  if (kw_log_special(u)) return kw_log_of_special(u);
  const float lost = x >= 1.0f ? 1.0f - (u - x) : x - (u - 1.0f);
  return logf(u) + lost / u;
}

// log2(x) = hi + lo to about 2^-31 relative, for powf; x positive and finite.
KW_FN float kw_log2_pair(float x, float& lo) {
  int e;
  const float f = kw_split(x, e) - 1.0f;
  const float u = 2.0f + f, u_lo = f - (u - 2.0f), r = 1.0f / u;
  const float s = f * r, s_lo = kw_fma(-s, u_lo, kw_fma(-s, u, f)) * r, z = s * s;
  const float head = 2.0f * s, tail = kw_fma(s * z, kw_atanh_tail(z), 2.0f * s_lo);
  const float h = head + tail, l = tail - (h - head);
  const float p = h * 1.44269502f;
  const float p_lo = kw_fma(l, 1.44269502f, kw_fma(h, 1.92596303e-08f, kw_fma(h, 1.44269502f, -p)));
  const float n = static_cast<float>(e), sum = n + p;
  lo = (e == 0 ? 0.0f : p - (sum - n)) + p_lo;
  return sum;
}
KW_FN bool kw_is_odd(float y) {
  return fabsf(y) < 16777216.0f && y == rintf(y) && (__float2int_rn(y) & 1) != 0;
}
KW_MATH float powf(float x, float y) {
  if (y == 0.0f || x == 1.0f) return 1.0f;
  if (x != x || y != y) return x + y;
  const float a = fabsf(x), inf = __builtin_inff();
  if (fabsf(y) == inf) return a == 1.0f ? 1.0f : (a > 1.0f) == (y > 0.0f) ? inf : 0.0f;
  const bool negative = __float_as_int(x) < 0 && kw_is_odd(y);
  float result;
  if (a == 0.0f || a == inf) {
    result = (a == 0.0f) == (y < 0.0f) ? inf : 0.0f;
  } else if (x < 0.0f && y != rintf(y)) {
    return __builtin_nanf("");
  } else {
    float lo;
    const float hi = kw_log2_pair(a, lo);
    const float p = y * hi;
    const float bounded = p > 130.0f ? 130.0f : p < -155.0f ? -155.0f : p;
    const float p_lo = p == bounded ? kw_fma(y, lo, kw_fma(y, hi, -p)) : 0.0f;
    const float j = rintf(bounded), f = (bounded - j) + p_lo;
    result = kw_scale(1.0f + kw_expm1_reduced(f * 0.693147182f), __float2int_rn(j));
  }
  return negative ? -result : result;
}
