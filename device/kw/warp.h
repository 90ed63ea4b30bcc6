// Threads of one warp together: shuffles, votes, matches, reductions.
#pragma once

#include <kw/base.h>

KW_FN void __syncwarp(unsigned mask = 0xffffffffu) {
  asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}
KW_FN unsigned __activemask() {
  unsigned mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}

// The last operand of shfl: segment mask in bits 8-12, clamp in bits 0-4.
KW_FN unsigned kw_segment(int width, unsigned clamp) {
  return (static_cast<unsigned>(32 - width) << 8) | clamp;
}
#define KW_SHUFFLE(NAME, MODE, ARGUMENT, CLAMP)                                              \
  KW_FN unsigned kw_##NAME(unsigned mask, unsigned value, ARGUMENT lane, int width) {        \
    unsigned result;                                                                         \
    asm volatile("shfl.sync." MODE ".b32 %0, %1, %2, %3, %4;"                                \
                 : "=r"(result)                                                              \
                 : "r"(value), "r"(lane), "r"(kw_segment(width, CLAMP)), "r"(mask));         \
    return result;                                                                           \
  }                                                                                          \
  KW_FN unsigned long long kw_##NAME(unsigned mask, unsigned long long value, ARGUMENT lane, \
                                     int width) {                                            \
    const unsigned low = kw_##NAME(mask, static_cast<unsigned>(value), lane, width);         \
    const unsigned high = kw_##NAME(mask, static_cast<unsigned>(value >> 32), lane, width);  \
    return static_cast<unsigned long long>(high) << 32 | low;                                \
  }                                                                                          \
  KW_SHUFFLE_AS(NAME, int, unsigned, ARGUMENT)                                               \
  KW_SHUFFLE_AS(NAME, unsigned, unsigned, ARGUMENT)                                          \
  KW_SHUFFLE_AS(NAME, float, unsigned, ARGUMENT)                                             \
  KW_SHUFFLE_AS(NAME, long, unsigned long long, ARGUMENT)                                    \
  KW_SHUFFLE_AS(NAME, unsigned long, unsigned long long, ARGUMENT)                           \
  KW_SHUFFLE_AS(NAME, long long, unsigned long long, ARGUMENT)                               \
  KW_SHUFFLE_AS(NAME, unsigned long long, unsigned long long, ARGUMENT)                      \
  KW_SHUFFLE_AS(NAME, double, unsigned long long, ARGUMENT)
#define KW_SHUFFLE_AS(NAME, T, BITS, ARGUMENT)                                                   \
  KW_FN T __##NAME(unsigned mask, T value, ARGUMENT lane, int width = 32) {                      \
    return __builtin_bit_cast(T, kw_##NAME(mask, __builtin_bit_cast(BITS, value), lane, width)); \
  }
KW_SHUFFLE(shfl_sync, "idx", int, 31)
KW_SHUFFLE(shfl_up_sync, "up", unsigned, 0)
KW_SHUFFLE(shfl_down_sync, "down", unsigned, 31)
KW_SHUFFLE(shfl_xor_sync, "bfly", int, 31)
#undef KW_SHUFFLE
#undef KW_SHUFFLE_AS

KW_FN unsigned __ballot_sync(unsigned mask, int predicate) {
  unsigned result;
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %1, 0;\n\tvote.sync.ballot.b32 %0, p, %2;\n\t}"
               : "=r"(result)
               : "r"(predicate), "r"(mask));
  return result;
}
#define KW_VOTE(NAME, MODE)                                                          \
  KW_FN int NAME(unsigned mask, int predicate) {                                     \
    int result;                                                                      \
    asm volatile("{\n\t.reg .pred p, q;\n\tsetp.ne.s32 p, %1, 0;\n\tvote.sync." MODE \
                 ".pred q, p, %2;\n\tselp.s32 %0, 1, 0, q;\n\t}"                     \
                 : "=r"(result)                                                      \
                 : "r"(predicate), "r"(mask));                                       \
    return result;                                                                   \
  }
KW_VOTE(__all_sync, "all")
KW_VOTE(__any_sync, "any")
KW_VOTE(__uni_sync, "uni")
#undef KW_VOTE

KW_FN unsigned kw_match_any(unsigned mask, unsigned value) {
  unsigned result;
  asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(result) : "r"(value), "r"(mask));
  return result;
}
KW_FN unsigned kw_match_any(unsigned mask, unsigned long long value) {
  unsigned result;
  asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(result) : "l"(value), "r"(mask));
  return result;
}
#define KW_MATCH_ALL(T, WIDTH, CONSTRAINT)                        \
  KW_FN unsigned kw_match_all(unsigned mask, T value, int* all) { \
    unsigned result;                                              \
    int equal;                                                    \
    asm volatile("{\n\t.reg .pred p;\n\tmatch.all.sync." WIDTH    \
                 " %0|p, %2, %3;\n\tselp.s32 %1, 1, 0, p;\n\t}"   \
                 : "=r"(result), "=r"(equal)                      \
                 : CONSTRAINT(value), "r"(mask));                 \
    *all = equal;                                                 \
    return result;                                                \
  }
KW_MATCH_ALL(unsigned, "b32", "r")
KW_MATCH_ALL(unsigned long long, "b64", "l")
#undef KW_MATCH_ALL
#define KW_MATCH_AS(T, BITS)                                          \
  KW_FN unsigned __match_any_sync(unsigned mask, T value) {           \
    return kw_match_any(mask, __builtin_bit_cast(BITS, value));       \
  }                                                                   \
  KW_FN unsigned __match_all_sync(unsigned mask, T value, int* all) { \
    return kw_match_all(mask, __builtin_bit_cast(BITS, value), all);  \
  }
KW_MATCH_AS(int, unsigned)
KW_MATCH_AS(unsigned, unsigned)
KW_MATCH_AS(float, unsigned)
KW_MATCH_AS(long, unsigned long long)
KW_MATCH_AS(unsigned long, unsigned long long)
KW_MATCH_AS(long long, unsigned long long)
KW_MATCH_AS(unsigned long long, unsigned long long)
KW_MATCH_AS(double, unsigned long long)
#undef KW_MATCH_AS

#if __CUDA_ARCH__ >= 800
#define KW_REDUCE(NAME, T, OP)                                                            \
  KW_FN T NAME(unsigned mask, T value) {                                                  \
    T result;                                                                             \
    asm volatile("redux.sync." OP " %0, %1, %2;" : "=r"(result) : "r"(value), "r"(mask)); \
    return result;                                                                        \
  }
KW_REDUCE(__reduce_add_sync, int, "add.s32")
KW_REDUCE(__reduce_add_sync, unsigned, "add.u32")
KW_REDUCE(__reduce_min_sync, int, "min.s32")
KW_REDUCE(__reduce_min_sync, unsigned, "min.u32")
KW_REDUCE(__reduce_max_sync, int, "max.s32")
KW_REDUCE(__reduce_max_sync, unsigned, "max.u32")
KW_REDUCE(__reduce_and_sync, unsigned, "and.b32")
KW_REDUCE(__reduce_or_sync, unsigned, "or.b32")
KW_REDUCE(__reduce_xor_sync, unsigned, "xor.b32")
#undef KW_REDUCE
#endif
