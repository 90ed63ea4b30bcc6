// Fused integer minima and maxima (__vimax3_s32, __viaddmax_s16x2_relu, …).
#pragma once

#include <kw/simd.h>

template <typename T>
KW_FN T kw_most(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
KW_FN T kw_least(T a, T b) {
  return a < b ? a : b;
}
// Sums wrap around, as the hardware's do.
KW_FN int kw_sum(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
KW_FN unsigned kw_sum(unsigned a, unsigned b) { return a + b; }

#define KW_DPX_WORD(T, S, PICK, NAME)                                          \
  KW_FN T __vi##NAME##3_##S(T a, T b, T c) { return PICK(PICK(a, b), c); }     \
  KW_FN T __viadd##NAME##_##S(T a, T b, T c) { return PICK(kw_sum(a, b), c); } \
  KW_FN T __vib##NAME##_##S(T a, T b, bool* pred) {                            \
    *pred = PICK(a, b) == a;                                                   \
    return PICK(a, b);                                                         \
  }
KW_DPX_WORD(int, s32, kw_most, max)
KW_DPX_WORD(int, s32, kw_least, min)
KW_DPX_WORD(unsigned, u32, kw_most, max)
KW_DPX_WORD(unsigned, u32, kw_least, min)
#undef KW_DPX_WORD
#define KW_DPX_RELU(PICK, NAME)                                                    \
  KW_FN int __vi##NAME##_s32_relu(int a, int b) { return kw_most(PICK(a, b), 0); } \
  KW_FN int __vi##NAME##3_s32_relu(int a, int b, int c) {                          \
    return kw_most(PICK(PICK(a, b), c), 0);                                        \
  }                                                                                \
  KW_FN int __viadd##NAME##_s32_relu(int a, int b, int c) {                        \
    return kw_most(PICK(kw_sum(a, b), c), 0);                                      \
  }
KW_DPX_RELU(kw_most, max)
KW_DPX_RELU(kw_least, min)
#undef KW_DPX_RELU

// Both halves of a word; a sum wraps around in its half before it is compared.
#define KW_DPX_HALVES(S, SIGN, NAME)                                                \
  KW_FN unsigned __vi##NAME##3_##S(unsigned a, unsigned b, unsigned c) {            \
    return __v##NAME##SIGN##2(__v##NAME##SIGN##2(a, b), c);                         \
  }                                                                                 \
  KW_FN unsigned __viadd##NAME##_##S(unsigned a, unsigned b, unsigned c) {          \
    return __v##NAME##SIGN##2(__vadd2(a, b), c);                                    \
  }                                                                                 \
  KW_FN unsigned __vib##NAME##_##S(unsigned a, unsigned b, bool* high, bool* low) { \
    const unsigned chosen = __v##NAME##SIGN##2(a, b);                               \
    *high = chosen >> 16 == a >> 16;                                                \
    *low = (chosen & 0xffff) == (a & 0xffff);                                       \
    return chosen;                                                                  \
  }
KW_DPX_HALVES(s16x2, s, max)
KW_DPX_HALVES(s16x2, s, min)
KW_DPX_HALVES(u16x2, u, max)
KW_DPX_HALVES(u16x2, u, min)
#undef KW_DPX_HALVES
#define KW_DPX_HALVES_RELU(NAME)                                                  \
  KW_FN unsigned __vi##NAME##_s16x2_relu(unsigned a, unsigned b) {                \
    return __vmaxs2(__v##NAME##s2(a, b), 0);                                      \
  }                                                                               \
  KW_FN unsigned __vi##NAME##3_s16x2_relu(unsigned a, unsigned b, unsigned c) {   \
    return __vmaxs2(__vi##NAME##3_s16x2(a, b, c), 0);                             \
  }                                                                               \
  KW_FN unsigned __viadd##NAME##_s16x2_relu(unsigned a, unsigned b, unsigned c) { \
    return __vmaxs2(__viadd##NAME##_s16x2(a, b, c), 0);                           \
  }
KW_DPX_HALVES_RELU(max)
KW_DPX_HALVES_RELU(min)
#undef KW_DPX_HALVES_RELU
