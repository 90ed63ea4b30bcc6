// Packed arithmetic on the bytes or halves of one 32-bit word (__vadd4, __vmaxs2, …).
#pragma once

#include <kw/base.h>

template <typename T, typename Fn>
KW_FN unsigned kw_lanes(unsigned a, unsigned b, Fn fn) {
  constexpr int kBits = 8 * sizeof(T);
  unsigned result = 0;
#pragma unroll
  for (int at = 0; at < 32; at += kBits) {
    const int value =
        fn(static_cast<int>(static_cast<T>(a >> at)), static_cast<int>(static_cast<T>(b >> at)));
    result |= (static_cast<unsigned>(value) & ((1u << kBits) - 1)) << at;
  }
  return result;
}
template <typename T>
KW_FN int kw_saturate(int value) {
  constexpr bool kSigned = static_cast<T>(-1) < static_cast<T>(0);
  constexpr int kBits = 8 * sizeof(T);
  constexpr int kLow = kSigned ? -(1 << (kBits - 1)) : 0;
  constexpr int kHigh = kSigned ? (1 << (kBits - 1)) - 1 : (1 << kBits) - 1;
  return value < kLow ? kLow : value > kHigh ? kHigh : value;
}

#define KW_SIMD(NAME, T, EXPRESSION)                                             \
  KW_FN unsigned NAME(unsigned x, unsigned y) {                                  \
    return kw_lanes<T>(x, y, [](int a, int b) KW_LAMBDA { return EXPRESSION; }); \
  }
#define KW_SIMD_UNARY(NAME, T, EXPRESSION)                                     \
  KW_FN unsigned NAME(unsigned x) {                                            \
    return kw_lanes<T>(x, 0, [](int a, int) KW_LAMBDA { return EXPRESSION; }); \
  }
#define KW_SIMD_SIGNLESS(N, S, U)                               \
  KW_SIMD(__vadd##N, U, a + b)                                  \
  KW_SIMD(__vsub##N, U, a - b)                                  \
  KW_SIMD(__vaddss##N, S, kw_saturate<S>(a + b))                \
  KW_SIMD(__vaddus##N, U, kw_saturate<U>(a + b))                \
  KW_SIMD(__vsubss##N, S, kw_saturate<S>(a - b))                \
  KW_SIMD(__vsubus##N, U, kw_saturate<U>(a - b))                \
  KW_SIMD(__vmaxs##N, S, a > b ? a : b)                         \
  KW_SIMD(__vmaxu##N, U, a > b ? a : b)                         \
  KW_SIMD(__vmins##N, S, a < b ? a : b)                         \
  KW_SIMD(__vminu##N, U, a < b ? a : b)                         \
  KW_SIMD(__vabsdiffs##N, S, a > b ? a - b : b - a)             \
  KW_SIMD(__vabsdiffu##N, U, a > b ? a - b : b - a)             \
  KW_SIMD(__vavgs##N, S, (a + b + (a + b >= 0)) >> 1)           \
  KW_SIMD(__vavgu##N, U, (a + b + 1) >> 1)                      \
  KW_SIMD(__vhaddu##N, U, (a + b) >> 1)                         \
  KW_SIMD_UNARY(__vabs##N, S, a < 0 ? -a : a)                   \
  KW_SIMD_UNARY(__vabsss##N, S, kw_saturate<S>(a < 0 ? -a : a)) \
  KW_SIMD_UNARY(__vneg##N, S, -a)                               \
  KW_SIMD_UNARY(__vnegss##N, S, kw_saturate<S>(-a))             \
  KW_SIMD_COMPARE(eq, N, U, ==)                                 \
  KW_SIMD_COMPARE(ne, N, U, !=)                                 \
  KW_SIMD_COMPARE(gtu, N, U, >)                                 \
  KW_SIMD_COMPARE(geu, N, U, >=)                                \
  KW_SIMD_COMPARE(ltu, N, U, <)                                 \
  KW_SIMD_COMPARE(leu, N, U, <=)                                \
  KW_SIMD_COMPARE(gts, N, S, >)                                 \
  KW_SIMD_COMPARE(ges, N, S, >=)                                \
  KW_SIMD_COMPARE(lts, N, S, <)                                 \
  KW_SIMD_COMPARE(les, N, S, <=)
#define KW_SIMD_COMPARE(NAME, N, T, OP)        \
  KW_SIMD(__vcmp##NAME##N, T, a OP b ? -1 : 0) \
  KW_SIMD(__vset##NAME##N, T, a OP b ? 1 : 0)
KW_SIMD_SIGNLESS(2, short, unsigned short)
KW_SIMD_SIGNLESS(4, signed char, unsigned char)
#undef KW_SIMD
#undef KW_SIMD_UNARY
#undef KW_SIMD_SIGNLESS
#undef KW_SIMD_COMPARE

template <typename T>
KW_FN unsigned kw_sum_differences(unsigned x, unsigned y) {
  unsigned sum = 0;
#pragma unroll
  for (int at = 0; at < 32; at += 8 * sizeof(T)) {
    const int a = static_cast<T>(x >> at), b = static_cast<T>(y >> at);
    sum += static_cast<unsigned>(a > b ? a - b : b - a);
  }
  return sum;
}
KW_FN unsigned __vsads2(unsigned x, unsigned y) { return kw_sum_differences<short>(x, y); }
KW_FN unsigned __vsadu2(unsigned x, unsigned y) { return kw_sum_differences<unsigned short>(x, y); }
KW_FN unsigned __vsads4(unsigned x, unsigned y) { return kw_sum_differences<signed char>(x, y); }
KW_FN unsigned __vsadu4(unsigned x, unsigned y) { return kw_sum_differences<unsigned char>(x, y); }
