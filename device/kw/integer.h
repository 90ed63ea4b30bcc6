// Integer intrinsics: bits, wide products, packed dot products.
#pragma once

#include <kw/base.h>
#include <kw/vector_types.h>

KW_FN int __popc(unsigned x) { return __builtin_popcount(x); }
KW_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KW_FN int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
KW_FN int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
KW_FN int __ffs(int x) { return x == 0 ? 0 : __builtin_ctz(static_cast<unsigned>(x)) + 1; }
KW_FN int __ffsll(long long x) {
  return x == 0 ? 0 : __builtin_ctzll(static_cast<unsigned long long>(x)) + 1;
}
KW_FN unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
KW_FN unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
KW_FN unsigned __fns(unsigned mask, unsigned base, int offset) {
  unsigned result;
  asm("fns.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(mask), "r"(base), "r"(offset));
  return result;
}

KW_FN unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  unsigned result;
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(selector));
  return result;
}
#define KW_FUNNEL(NAME, OP)                                                      \
  KW_FN unsigned NAME(unsigned low, unsigned high, unsigned shift) {             \
    unsigned result;                                                             \
    asm(OP " %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift)); \
    return result;                                                               \
  }
KW_FUNNEL(__funnelshift_l, "shf.l.wrap.b32")
KW_FUNNEL(__funnelshift_lc, "shf.l.clamp.b32")
KW_FUNNEL(__funnelshift_r, "shf.r.wrap.b32")
KW_FUNNEL(__funnelshift_rc, "shf.r.clamp.b32")
#undef KW_FUNNEL

KW_FN int __mulhi(int a, int b) { return static_cast<int>((static_cast<long long>(a) * b) >> 32); }
KW_FN unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}
KW_FN long long __mul64hi(long long a, long long b) {
  long long result;
  asm("mul.hi.s64 %0, %1, %2;" : "=l"(result) : "l"(a), "l"(b));
  return result;
}
KW_FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  unsigned long long result;
  asm("mul.hi.u64 %0, %1, %2;" : "=l"(result) : "l"(a), "l"(b));
  return result;
}
KW_FN int __mul24(int a, int b) {
  int result;
  asm("mul24.lo.s32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
KW_FN unsigned __umul24(unsigned a, unsigned b) {
  unsigned result;
  asm("mul24.lo.u32 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
KW_FN unsigned __sad(int a, int b, unsigned c) {
  unsigned result;
  asm("sad.s32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}
KW_FN unsigned __usad(unsigned a, unsigned b, unsigned c) {
  unsigned result;
  asm("sad.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}
KW_FN int __hadd(int a, int b) { return static_cast<int>((static_cast<long long>(a) + b) >> 1); }
KW_FN int __rhadd(int a, int b) {
  return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1);
}
KW_FN unsigned __uhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
KW_FN unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}

#define KW_DOT(NAME, OP, T, A, B)                                                              \
  KW_FN T NAME(A a, B b, T c) {                                                                \
    T result;                                                                                  \
    asm(OP " %0, %1, %2, %3;"                                                                  \
        : "=r"(result)                                                                         \
        : "r"(__builtin_bit_cast(unsigned, a)), "r"(__builtin_bit_cast(unsigned, b)), "r"(c)); \
    return result;                                                                             \
  }
KW_DOT(__dp4a, "dp4a.s32.s32", int, int, int)
KW_DOT(__dp4a, "dp4a.u32.u32", unsigned, unsigned, unsigned)
KW_DOT(__dp4a, "dp4a.s32.s32", int, char4, char4)
KW_DOT(__dp4a, "dp4a.u32.u32", unsigned, uchar4, uchar4)
KW_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, int, int)
KW_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned, unsigned, unsigned)
KW_DOT(__dp2a_lo, "dp2a.lo.s32.s32", int, short2, char4)
KW_DOT(__dp2a_lo, "dp2a.lo.u32.u32", unsigned, ushort2, uchar4)
KW_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, int, int)
KW_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned, unsigned, unsigned)
KW_DOT(__dp2a_hi, "dp2a.hi.s32.s32", int, short2, char4)
KW_DOT(__dp2a_hi, "dp2a.hi.u32.u32", unsigned, ushort2, uchar4)
#undef KW_DOT

KW_FN constexpr int abs(int x) { return x < 0 ? -x : x; }
KW_FN constexpr long abs(long x) { return x < 0 ? -x : x; }
KW_FN constexpr long long abs(long long x) { return x < 0 ? -x : x; }
KW_FN constexpr long labs(long x) { return abs(x); }
KW_FN constexpr long long llabs(long long x) { return abs(x); }
