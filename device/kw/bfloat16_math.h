// Arithmetic of __nv_bfloat16 and __nv_bfloat162: the instructions, then everything built on them.
#pragma once

#include <kw/bfloat16_types.h>

#if __CUDA_ARCH__ >= 800
#define KW_BF_UNARY(NAME, OP)                              \
  KW_FN __nv_bfloat16 kw_##NAME(__nv_bfloat16 a) {         \
    unsigned short r;                                      \
    asm(OP ".bf16 %0, %1;" : "=h"(r) : "h"(a.__x));        \
    return kw_bfloat16(r);                                 \
  }                                                        \
  KW_FN __nv_bfloat162 kw_##NAME(__nv_bfloat162 a) {       \
    unsigned r;                                            \
    asm(OP ".bf16x2 %0, %1;" : "=r"(r) : "r"(kw_bits(a))); \
    return kw_bfloat162(r);                                \
  }
#define KW_BF_BINARY(NAME, OP)                                                  \
  KW_FN __nv_bfloat16 kw_##NAME(__nv_bfloat16 a, __nv_bfloat16 b) {             \
    unsigned short r;                                                           \
    asm(OP ".bf16 %0, %1, %2;" : "=h"(r) : "h"(a.__x), "h"(b.__x));             \
    return kw_bfloat16(r);                                                      \
  }                                                                             \
  KW_FN __nv_bfloat162 kw_##NAME(__nv_bfloat162 a, __nv_bfloat162 b) {          \
    unsigned r;                                                                 \
    asm(OP ".bf16x2 %0, %1, %2;" : "=r"(r) : "r"(kw_bits(a)), "r"(kw_bits(b))); \
    return kw_bfloat162(r);                                                     \
  }
#define KW_BF_TERNARY(NAME, OP)                                                          \
  KW_FN __nv_bfloat16 kw_##NAME(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {     \
    unsigned short r;                                                                    \
    asm(OP ".bf16 %0, %1, %2, %3;" : "=h"(r) : "h"(a.__x), "h"(b.__x), "h"(c.__x));      \
    return kw_bfloat16(r);                                                               \
  }                                                                                      \
  KW_FN __nv_bfloat162 kw_##NAME(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) { \
    unsigned r;                                                                          \
    asm(OP ".bf16x2 %0, %1, %2, %3;"                                                     \
        : "=r"(r)                                                                        \
        : "r"(kw_bits(a)), "r"(kw_bits(b)), "r"(kw_bits(c)));                            \
    return kw_bfloat162(r);                                                              \
  }
KW_BF_UNARY(neg, "neg")
KW_BF_UNARY(abs, "abs")
KW_BF_BINARY(max, "max")
KW_BF_BINARY(min, "min")
KW_BF_BINARY(max_nan, "max.NaN")
KW_BF_BINARY(min_nan, "min.NaN")
KW_BF_TERNARY(fma, "fma.rn")
KW_BF_TERNARY(fma_relu, "fma.rn.relu")
#if __CUDA_ARCH__ >= 900
KW_BF_BINARY(add, "add")
KW_BF_BINARY(sub, "sub")
KW_BF_BINARY(mul, "mul")
#else
// sm_80 has only fma: a * 1 + b, b * -1 + a, a * b + -0.
KW_FN __nv_bfloat16 kw_add(__nv_bfloat16 a, __nv_bfloat16 b) {
  return kw_fma(a, kw_bfloat16(0x3f80), b);
}
KW_FN __nv_bfloat16 kw_sub(__nv_bfloat16 a, __nv_bfloat16 b) {
  return kw_fma(b, kw_bfloat16(0xbf80), a);
}
KW_FN __nv_bfloat16 kw_mul(__nv_bfloat16 a, __nv_bfloat16 b) {
  return kw_fma(a, b, kw_bfloat16(0x8000));
}
KW_FN __nv_bfloat162 kw_add(__nv_bfloat162 a, __nv_bfloat162 b) {
  return kw_fma(a, kw_bfloat162(0x3f803f80), b);
}
KW_FN __nv_bfloat162 kw_sub(__nv_bfloat162 a, __nv_bfloat162 b) {
  return kw_fma(b, kw_bfloat162(0xbf80bf80), a);
}
KW_FN __nv_bfloat162 kw_mul(__nv_bfloat162 a, __nv_bfloat162 b) {
  return kw_fma(a, b, kw_bfloat162(0x80008000));
}
#endif
#undef KW_BF_UNARY
#undef KW_BF_BINARY
#undef KW_BF_TERNARY
#else
// Below sm_80 there are no bfloat16 instructions: each operation is done in single precision and
// rounded.
#define KW_BF_SOFT(NAME, EXPRESSION)                                   \
  KW_FN __nv_bfloat16 kw_##NAME(__nv_bfloat16 x, __nv_bfloat16 y) {    \
    const float a = __bfloat162float(x), b = __bfloat162float(y);      \
    return __nv_bfloat16(EXPRESSION);                                  \
  }                                                                    \
  KW_FN __nv_bfloat162 kw_##NAME(__nv_bfloat162 a, __nv_bfloat162 b) { \
    return {kw_##NAME(a.x, b.x), kw_##NAME(a.y, b.y)};                 \
  }
KW_BF_SOFT(add, a + b)
KW_BF_SOFT(sub, a - b)
KW_BF_SOFT(mul, a* b)
KW_BF_SOFT(max, fmaxf(a, b))
KW_BF_SOFT(min, fminf(a, b))
KW_BF_SOFT(max_nan, a != a || b != b ? a + b : fmaxf(a, b))
KW_BF_SOFT(min_nan, a != a || b != b ? a + b : fminf(a, b))
#undef KW_BF_SOFT
KW_FN __nv_bfloat16 kw_neg(__nv_bfloat16 a) { return kw_bfloat16(a.__x ^ 0x8000); }
KW_FN __nv_bfloat16 kw_abs(__nv_bfloat16 a) { return kw_bfloat16(a.__x & 0x7fff); }
KW_FN __nv_bfloat162 kw_neg(__nv_bfloat162 a) { return kw_bfloat162(kw_bits(a) ^ 0x80008000u); }
KW_FN __nv_bfloat162 kw_abs(__nv_bfloat162 a) { return kw_bfloat162(kw_bits(a) & 0x7fff7fffu); }
KW_FN __nv_bfloat16 kw_fma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  return __nv_bfloat16(fmaf(__bfloat162float(a), __bfloat162float(b), __bfloat162float(c)));
}
KW_FN __nv_bfloat162 kw_fma(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return {kw_fma(a.x, b.x, c.x), kw_fma(a.y, b.y, c.y)};
}
KW_FN __nv_bfloat16 kw_fma_relu(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
  return kw_max_nan(kw_fma(a, b, c), kw_bfloat16(0));
}
KW_FN __nv_bfloat162 kw_fma_relu(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
  return kw_max_nan(kw_fma(a, b, c), kw_bfloat162(0));
}
#endif
// 0 for NaN, as .sat gives.
KW_FN __nv_bfloat16 kw_clamp_unit(__nv_bfloat16 a) {
  return kw_min(kw_max(a, kw_bfloat16(0)), kw_bfloat16(0x3f80));
}
KW_FN __nv_bfloat162 kw_clamp_unit(__nv_bfloat162 a) {
  return {kw_clamp_unit(a.x), kw_clamp_unit(a.y)};
}
#define KW_BF_SAT(T)                                                   \
  KW_FN T kw_add_sat(T a, T b) { return kw_clamp_unit(kw_add(a, b)); } \
  KW_FN T kw_sub_sat(T a, T b) { return kw_clamp_unit(kw_sub(a, b)); } \
  KW_FN T kw_mul_sat(T a, T b) { return kw_clamp_unit(kw_mul(a, b)); } \
  KW_FN T kw_fma_sat(T a, T b, T c) { return kw_clamp_unit(kw_fma(a, b, c)); }
KW_BF_SAT(__nv_bfloat16)
KW_BF_SAT(__nv_bfloat162)
#undef KW_BF_SAT

#if __CUDA_ARCH__ >= 900
KW_FN __nv_bfloat16 atomicAdd(__nv_bfloat16* p, __nv_bfloat16 v) {
  unsigned short old;
  asm volatile("atom.add.noftz.bf16 %0, [%1], %2;" : "=h"(old) : "l"(p), "h"(v.__x) : "memory");
  return kw_bfloat16(old);
}
KW_FN __nv_bfloat162 atomicAdd(__nv_bfloat162* p, __nv_bfloat162 v) {
  unsigned old;
  asm volatile("atom.add.noftz.bf16x2 %0, [%1], %2;"
               : "=r"(old)
               : "l"(p), "r"(kw_bits(v))
               : "memory");
  return kw_bfloat162(old);
}
#else
KW_FN __nv_bfloat16 atomicAdd(__nv_bfloat16* p, __nv_bfloat16 v) {
  unsigned short* word = reinterpret_cast<unsigned short*>(p);
  unsigned short old = *word, seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, kw_add(kw_bfloat16(seen), v).__x);
  } while (old != seen);
  return kw_bfloat16(old);
}
KW_FN __nv_bfloat162 atomicAdd(__nv_bfloat162* p, __nv_bfloat162 v) {
  unsigned* word = reinterpret_cast<unsigned*>(p);
  unsigned old = *word, seen;
  do {
    seen = old;
    old = atomicCAS(word, seen, kw_bits(kw_add(kw_bfloat162(seen), v)));
  } while (old != seen);
  return kw_bfloat162(old);
}
#endif

#define KW_S __nv_bfloat16
#define KW_V __nv_bfloat162
#define KW_OF_BITS kw_bfloat16
#define KW_OF_BITS2 kw_bfloat162
#define KW_TO_FLOAT __bfloat162float
#define KW_OF_FLOAT __float2bfloat16_rn
#define KW_OF_FLOATS __floats2bfloat162_rn
#define KW_INFINITY_BITS 0x7f80
#include <kw/small_float_math.h>
#undef KW_S
#undef KW_V
#undef KW_OF_BITS
#undef KW_OF_BITS2
#undef KW_TO_FLOAT
#undef KW_OF_FLOAT
#undef KW_OF_FLOATS
#undef KW_INFINITY_BITS
