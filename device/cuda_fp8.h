// 8-bit floats e4m3 and e5m2: storage and conversions. From sm_89 on by instruction, below in
// software.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

// Round to nearest even with `bits` mantissa bits and smallest normal exponent `lowest`.
KW_MATH __nv_fp8_storage_t kw_encode_fp8(float f, bool finite, __nv_fp8_interpretation_t kind) {
  const bool e4m3 = kind == __NV_E4M3;
  const int bits = e4m3 ? 3 : 2, lowest = e4m3 ? -6 : -14;
  const unsigned sign = __float_as_uint(f) >> 24 & 0x80u;
  const float a = fabsf(f), largest = e4m3 ? 448.0f : 57344.0f;
  const unsigned overflow = finite ? (e4m3 ? 0x7eu : 0x7bu) : (e4m3 ? 0x7fu : 0x7cu);
  if (a != a) return 0x7f | (e4m3 ? 0 : sign);
  if (a >= 131072.0f) return static_cast<__nv_fp8_storage_t>(sign | overflow);
  int exponent = static_cast<int>(__float_as_uint(a) >> 23) - 127;
  exponent = exponent < lowest ? lowest : exponent;
  const float unit = __int_as_float((exponent - bits + 127) << 23);
  const int steps = __float2int_rn(a / unit);
  if (static_cast<float>(steps) * unit > largest)
    return static_cast<__nv_fp8_storage_t>(sign | overflow);
  return static_cast<__nv_fp8_storage_t>(
      sign | static_cast<unsigned>(((exponent - lowest) << bits) + steps));
}
KW_FN float kw_decode_fp8(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  if (kind == __NV_E5M2) return kw_from_half(static_cast<unsigned short>(x << 8));
  const int exponent = x >> 3 & 15, mantissa = x & 7;
  const float magnitude = (x & 0x7f) == 0x7f ? __builtin_nanf("")
                          : exponent == 0    ? static_cast<float>(mantissa) * 0.001953125f
                                          : __int_as_float((exponent + 120) << 23 | mantissa << 20);
  return (x & 0x80) != 0 ? -magnitude : magnitude;
}

KW_FN __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 f, __nv_saturation_t saturate,
                                                    __nv_fp8_interpretation_t kind) {
#if __CUDA_ARCH__ >= 890
  if (saturate == __NV_SATFINITE) {
    unsigned short r;
    if (kind == __NV_E4M3) {
      asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(f.y), "f"(f.x));
    } else {
      asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(f.y), "f"(f.x));
    }
    return r;
  }
#endif
  const bool finite = saturate == __NV_SATFINITE;
  return static_cast<unsigned short>(kw_encode_fp8(f.y, finite, kind) << 8 |
                                     kw_encode_fp8(f.x, finite, kind));
}
KW_FN __nv_fp8_storage_t __nv_cvt_float_to_fp8(float f, __nv_saturation_t saturate,
                                               __nv_fp8_interpretation_t kind) {
  return static_cast<__nv_fp8_storage_t>(__nv_cvt_float2_to_fp8x2(float2{f, 0.0f}, saturate, kind));
}
// To odd in single precision first, so that the second rounding is the only one that counts.
KW_FN float kw_round_to_odd(double a) {
  const float f = static_cast<float>(a);
  const unsigned bits = __float_as_uint(f);
  const double back = f;
  if (back == a || a != a || (bits & 1) != 0 || fabsf(f) == __builtin_inff()) return f;
  return __uint_as_float(__builtin_fabs(back) < __builtin_fabs(a) ? bits + 1 : bits - 1);
}
KW_FN __nv_fp8_storage_t __nv_cvt_double_to_fp8(double d, __nv_saturation_t saturate,
                                                __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(kw_round_to_odd(d), saturate, kind);
}
KW_FN __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw h, __nv_saturation_t saturate,
                                                 __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(kw_from_half(h.x), saturate, kind);
}
KW_FN __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw b,
                                                     __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(kw_from_bfloat16(b.x), saturate, kind);
}
KW_FN __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw h, __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(float2{kw_from_half(h.x), kw_from_half(h.y)}, saturate, kind);
}
KW_FN __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw b,
                                                          __nv_saturation_t saturate,
                                                          __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(float2{kw_from_bfloat16(b.x), kw_from_bfloat16(b.y)}, saturate,
                                  kind);
}
KW_FN __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                             __nv_fp8_interpretation_t kind) {
#if __CUDA_ARCH__ >= 890
  unsigned r;
  if (kind == __NV_E4M3) {
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(r) : "h"(x));
  } else {
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(r) : "h"(x));
  }
  return __builtin_bit_cast(__half2_raw, r);
#else
  return {kw_to_half(kw_decode_fp8(static_cast<__nv_fp8_storage_t>(x), kind)),
          kw_to_half(kw_decode_fp8(static_cast<__nv_fp8_storage_t>(x >> 8), kind))};
#endif
}
KW_FN __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  return {__nv_cvt_fp8x2_to_halfraw2(x, kind).x};
}
KW_FN float kw_fp8_to_float(__nv_fp8_storage_t x, __nv_fp8_interpretation_t kind) {
  return kw_from_half(__nv_cvt_fp8_to_halfraw(x, kind).x);
}
KW_FN float2 kw_fp8x2_to_float2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t kind) {
  const __half2_raw h = __nv_cvt_fp8x2_to_halfraw2(x, kind);
  return {kw_from_half(h.x), kw_from_half(h.y)};
}

#define KW_FP8(NAME, KIND)                                                                        \
  struct __nv_fp8_##NAME {                                                                        \
    __nv_fp8_storage_t __x;                                                                       \
    __nv_fp8_##NAME() = default;                                                                  \
    KW_METHOD explicit __nv_fp8_##NAME(float a)                                                   \
        : __x(__nv_cvt_float_to_fp8(a, __NV_SATFINITE, KIND)) {}                                  \
    KW_METHOD explicit __nv_fp8_##NAME(double a)                                                  \
        : __x(__nv_cvt_double_to_fp8(a, __NV_SATFINITE, KIND)) {}                                 \
    KW_METHOD explicit __nv_fp8_##NAME(__half a) : __nv_fp8_##NAME(__half2float(a)) {}            \
    KW_METHOD explicit __nv_fp8_##NAME(__nv_bfloat16 a) : __nv_fp8_##NAME(__bfloat162float(a)) {} \
    KW_METHOD explicit __nv_fp8_##NAME(int a) : __nv_fp8_##NAME(static_cast<double>(a)) {}        \
    KW_METHOD explicit __nv_fp8_##NAME(unsigned a) : __nv_fp8_##NAME(static_cast<double>(a)) {}   \
    KW_METHOD explicit operator float() const { return kw_fp8_to_float(__x, KIND); }              \
    KW_METHOD explicit operator double() const { return kw_fp8_to_float(__x, KIND); }             \
    KW_METHOD explicit operator __half() const {                                                  \
      return __half(__nv_cvt_fp8_to_halfraw(__x, KIND));                                          \
    }                                                                                             \
    KW_METHOD explicit operator __nv_bfloat16() const {                                           \
      return __nv_bfloat16(kw_fp8_to_float(__x, KIND));                                           \
    }                                                                                             \
    KW_METHOD explicit operator int() const {                                                     \
      return static_cast<int>(kw_fp8_to_float(__x, KIND));                                        \
    }                                                                                             \
    KW_METHOD explicit operator bool() const { return (__x & 0x7f) != 0; }                        \
  };                                                                                              \
  struct __align__(2) __nv_fp8x2_##NAME {                                                         \
    __nv_fp8x2_storage_t __x;                                                                     \
    __nv_fp8x2_##NAME() = default;                                                                \
    KW_METHOD explicit __nv_fp8x2_##NAME(float2 a)                                                \
        : __x(__nv_cvt_float2_to_fp8x2(a, __NV_SATFINITE, KIND)) {}                               \
    KW_METHOD explicit __nv_fp8x2_##NAME(__half2 a)                                               \
        : __x(__nv_cvt_halfraw2_to_fp8x2(a, __NV_SATFINITE, KIND)) {}                             \
    KW_METHOD explicit __nv_fp8x2_##NAME(__nv_bfloat162 a)                                        \
        : __x(__nv_cvt_bfloat16raw2_to_fp8x2(a, __NV_SATFINITE, KIND)) {}                         \
    KW_METHOD explicit operator float2() const { return kw_fp8x2_to_float2(__x, KIND); }          \
    KW_METHOD explicit operator __half2() const {                                                 \
      return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, KIND));                                      \
    }                                                                                             \
  };                                                                                              \
  struct __align__(4) __nv_fp8x4_##NAME {                                                         \
    __nv_fp8x4_storage_t __x;                                                                     \
    __nv_fp8x4_##NAME() = default;                                                                \
    KW_METHOD explicit __nv_fp8x4_##NAME(float4 a)                                                \
        : __x(__nv_cvt_float2_to_fp8x2(float2{a.x, a.y}, __NV_SATFINITE, KIND) |                  \
              static_cast<unsigned>(                                                              \
                  __nv_cvt_float2_to_fp8x2(float2{a.z, a.w}, __NV_SATFINITE, KIND))               \
                  << 16) {}                                                                       \
    KW_METHOD explicit __nv_fp8x4_##NAME(__half2 low, __half2 high)                               \
        : __x(__nv_cvt_halfraw2_to_fp8x2(low, __NV_SATFINITE, KIND) |                             \
              static_cast<unsigned>(__nv_cvt_halfraw2_to_fp8x2(high, __NV_SATFINITE, KIND))       \
                  << 16) {}                                                                       \
    KW_METHOD explicit operator float4() const {                                                  \
      const float2 low = kw_fp8x2_to_float2(static_cast<__nv_fp8x2_storage_t>(__x), KIND);        \
      const float2 high = kw_fp8x2_to_float2(static_cast<__nv_fp8x2_storage_t>(__x >> 16), KIND); \
      return {low.x, low.y, high.x, high.y};                                                      \
    }                                                                                             \
  };
KW_FP8(e4m3, __NV_E4M3)
KW_FP8(e5m2, __NV_E5M2)
#undef KW_FP8
