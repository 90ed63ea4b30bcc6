// Single-precision elementary functions, a few ulp, without NVIDIA's libdevice. Polynomials are Chebyshev fits of our
// own on the reduced ranges; each is named by the function it stands for.
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
  const float p = kw_poly(f, 0.5f, 0.166666672f, 0.041666463f, 0.00833331048f, 0.00139339f, 0.00019891269f);
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
  const int n = __float2int_rn(j) - 1;
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
  return kw_fma(n, 0.301025391f, kw_fma(n, 4.60503907e-06f, kw_fma(l, 0.434294492f, l * -1.010305e-08f)));
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

static __constant__ const unsigned kw_two_over_pi[8] = {0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                                        0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};
// |x| >= 2^16: the fraction of x / (pi/2) from the bits of 2/pi that matter.
KW_MATH float kw_reduce_large(float x, int& quadrant) {
  const unsigned bits = __float_as_uint(x) & 0x7fffffffu;
  const unsigned long long m = (bits & 0x7fffffu) | 0x800000u;
  const int start = static_cast<int>(bits >> 23) - 150 + 30;  // first needed bit of the table
  const unsigned* t = kw_two_over_pi + (start >> 5);
  const int shift = start & 31;
  const auto word = [&](int i) {
    return shift == 0 ? t[i] : t[i] << shift | t[i + 1] >> (32 - shift);
  };
  const unsigned long long low = m * word(2), middle = m * word(1) + (low >> 32);
  const unsigned high = static_cast<unsigned>(m * word(0) + (middle >> 32));
  const unsigned long long fraction = (static_cast<unsigned long long>(high) << 34) |
                                      ((middle & 0xffffffffull) << 2) | ((low & 0xffffffffull) >> 30);
  const int q = static_cast<int>(high >> 30) + static_cast<int>(fraction >> 63);
  const float r = static_cast<float>(static_cast<double>(static_cast<long long>(fraction)) * 8.5153039502163861e-20);
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
  return kw_fma(x * z, kw_poly(z, -0.166666672f, 0.00833333191f, -0.00019840039f, 2.72438115e-06f), x);
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
  const float r = a > 4096.0f ? logf(a) + 0.693147182f : log1pf(a + a * a / (1.0f + sqrtf(kw_fma(a, a, 1.0f))));
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
