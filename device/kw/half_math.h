// Arithmetic of __half and __half2: the instructions, then everything built on them.
#pragma once

#include <kw/half_types.h>

#define KW_HALF_UNARY(NAME, OP)                           \
  KW_FN __half kw_##NAME(__half a) {                      \
    unsigned short r;                                     \
    asm(OP ".f16 %0, %1;" : "=h"(r) : "h"(a.__x));        \
    return kw_half(r);                                    \
  }                                                       \
  KW_FN __half2 kw_##NAME(__half2 a) {                    \
    unsigned r;                                           \
    asm(OP ".f16x2 %0, %1;" : "=r"(r) : "r"(kw_bits(a))); \
    return kw_half2(r);                                   \
  }
#define KW_HALF_BINARY(NAME, OP)                                               \
  KW_FN __half kw_##NAME(__half a, __half b) {                                 \
    unsigned short r;                                                          \
    asm(OP ".f16 %0, %1, %2;" : "=h"(r) : "h"(a.__x), "h"(b.__x));             \
    return kw_half(r);                                                         \
  }                                                                            \
  KW_FN __half2 kw_##NAME(__half2 a, __half2 b) {                              \
    unsigned r;                                                                \
    asm(OP ".f16x2 %0, %1, %2;" : "=r"(r) : "r"(kw_bits(a)), "r"(kw_bits(b))); \
    return kw_half2(r);                                                        \
  }
#define KW_HALF_TERNARY(NAME, OP)                                                  \
  KW_FN __half kw_##NAME(__half a, __half b, __half c) {                           \
    unsigned short r;                                                              \
    asm(OP ".f16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.__x), "h"(b.__x), "h"(c.__x)); \
    return kw_half(r);                                                             \
  }                                                                                \
  KW_FN __half2 kw_##NAME(__half2 a, __half2 b, __half2 c) {                       \
    unsigned r;                                                                    \
    asm(OP ".f16x2 %0, %1, %2, %3;"                                                \
        : "=r"(r)                                                                  \
        : "r"(kw_bits(a)), "r"(kw_bits(b)), "r"(kw_bits(c)));                      \
    return kw_half2(r);                                                            \
  }
KW_HALF_UNARY(neg, "neg")
KW_HALF_UNARY(abs, "abs")
KW_HALF_BINARY(add, "add")
KW_HALF_BINARY(sub, "sub")
KW_HALF_BINARY(mul, "mul")
KW_HALF_BINARY(add_sat, "add.sat")
KW_HALF_BINARY(sub_sat, "sub.sat")
KW_HALF_BINARY(mul_sat, "mul.sat")
KW_HALF_TERNARY(fma, "fma.rn")
KW_HALF_TERNARY(fma_sat, "fma.rn.sat")
#if __CUDA_ARCH__ >= 800
KW_HALF_BINARY(max, "max")
KW_HALF_BINARY(min, "min")
KW_HALF_BINARY(max_nan, "max.NaN")
KW_HALF_BINARY(min_nan, "min.NaN")
KW_HALF_TERNARY(fma_relu, "fma.rn.relu")
#else
#define KW_HALF_CHOICE(NAME, EXPRESSION)                  \
  KW_FN __half kw_##NAME(__half x, __half y) {            \
    const float a = __half2float(x), b = __half2float(y); \
    return __half(EXPRESSION);                            \
  }                                                       \
  KW_FN __half2 kw_##NAME(__half2 a, __half2 b) {         \
    return {kw_##NAME(a.x, b.x), kw_##NAME(a.y, b.y)};    \
  }
KW_HALF_CHOICE(max, fmaxf(a, b))
KW_HALF_CHOICE(min, fminf(a, b))
KW_HALF_CHOICE(max_nan, a != a || b != b ? a + b : fmaxf(a, b))
KW_HALF_CHOICE(min_nan, a != a || b != b ? a + b : fminf(a, b))
#undef KW_HALF_CHOICE
KW_FN __half kw_fma_relu(__half a, __half b, __half c) {
  return kw_max_nan(kw_fma(a, b, c), kw_half(0));
}
KW_FN __half2 kw_fma_relu(__half2 a, __half2 b, __half2 c) {
  return kw_max_nan(kw_fma(a, b, c), kw_half2(0));
}
#endif
#undef KW_HALF_UNARY
#undef KW_HALF_BINARY
#undef KW_HALF_TERNARY
KW_FN __half htanh_approx(__half a) {
  unsigned short r;
  asm("tanh.approx.f16 %0, %1;" : "=h"(r) : "h"(a.__x));
  return kw_half(r);
}
KW_FN __half2 h2tanh_approx(__half2 a) {
  unsigned r;
  asm("tanh.approx.f16x2 %0, %1;" : "=r"(r) : "r"(kw_bits(a)));
  return kw_half2(r);
}

KW_FN __half atomicAdd(__half* p, __half v) {
  unsigned short old;
  asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(old) : "l"(p), "h"(v.__x) : "memory");
  return kw_half(old);
}
KW_FN __half2 atomicAdd(__half2* p, __half2 v) {
  unsigned old;
  asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;"
               : "=r"(old)
               : "l"(p), "r"(kw_bits(v))
               : "memory");
  return kw_half2(old);
}

#define KW_S __half
#define KW_V __half2
#define KW_OF_BITS kw_half
#define KW_OF_BITS2 kw_half2
#define KW_TO_FLOAT __half2float
#define KW_OF_FLOAT __float2half_rn
#define KW_OF_FLOATS __floats2half2_rn
#define KW_INFINITY_BITS 0x7c00
#include <kw/small_float_math.h>
#undef KW_S
#undef KW_V
#undef KW_OF_BITS
#undef KW_OF_BITS2
#undef KW_TO_FLOAT
#undef KW_OF_FLOAT
#undef KW_OF_FLOATS
#undef KW_INFINITY_BITS
