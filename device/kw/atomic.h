// Atomic functions on 32 and 64 bits. Plain: device scope; _block and _system: those scopes. All
// relaxed, as in CUDA.
#pragma once

#include <kw/base.h>

#define KW_ATOMIC_OP(NAME, BUILTIN, T, SUFFIX, SCOPE)                \
  KW_FN T NAME##SUFFIX(T* p, T v) {                                  \
    return __scoped_atomic_##BUILTIN(p, v, __ATOMIC_RELAXED, SCOPE); \
  }
#define KW_ATOMIC_SUB(T, SUFFIX, SCOPE)                                                  \
  KW_FN T atomicSub##SUFFIX(T* p, T v) {                                                 \
    return __scoped_atomic_fetch_add(p, static_cast<T>(0 - v), __ATOMIC_RELAXED, SCOPE); \
  }
#define KW_ATOMIC_EXCHANGE(T, SUFFIX, SCOPE)                          \
  KW_FN T atomicExch##SUFFIX(T* p, T v) {                             \
    return __scoped_atomic_exchange_n(p, v, __ATOMIC_RELAXED, SCOPE); \
  }
#define KW_ATOMIC_CAS(T, SUFFIX, SCOPE)                                                \
  KW_FN T atomicCAS##SUFFIX(T* p, T expected, T desired) {                             \
    __scoped_atomic_compare_exchange_n(p, &expected, desired, false, __ATOMIC_RELAXED, \
                                       __ATOMIC_RELAXED, SCOPE);                       \
    return expected;                                                                   \
  }
#define KW_ATOMIC_INTEGER(T, SUFFIX, SCOPE)            \
  KW_ATOMIC_OP(atomicAdd, fetch_add, T, SUFFIX, SCOPE) \
  KW_ATOMIC_SUB(T, SUFFIX, SCOPE)                      \
  KW_ATOMIC_OP(atomicAnd, fetch_and, T, SUFFIX, SCOPE) \
  KW_ATOMIC_OP(atomicOr, fetch_or, T, SUFFIX, SCOPE)   \
  KW_ATOMIC_OP(atomicXor, fetch_xor, T, SUFFIX, SCOPE) \
  KW_ATOMIC_OP(atomicMin, fetch_min, T, SUFFIX, SCOPE) \
  KW_ATOMIC_OP(atomicMax, fetch_max, T, SUFFIX, SCOPE) \
  KW_ATOMIC_EXCHANGE(T, SUFFIX, SCOPE)                 \
  KW_ATOMIC_CAS(T, SUFFIX, SCOPE)
#define KW_ATOMIC_FLOAT(T, BITS, SUFFIX, SCOPE)                                                \
  KW_ATOMIC_OP(atomicAdd, fetch_add, T, SUFFIX, SCOPE)                                         \
  KW_FN T atomicExch##SUFFIX(T* p, T v) {                                                      \
    return __builtin_bit_cast(                                                                 \
        T, __scoped_atomic_exchange_n(reinterpret_cast<BITS*>(p), __builtin_bit_cast(BITS, v), \
                                      __ATOMIC_RELAXED, SCOPE));                               \
  }
#define KW_ATOMIC_COUNT(NAME, OP, SUFFIX, PTX_SCOPE)         \
  KW_FN unsigned NAME##SUFFIX(unsigned* p, unsigned limit) { \
    unsigned old;                                            \
    asm volatile("atom." PTX_SCOPE OP ".u32 %0, [%1], %2;"   \
                 : "=r"(old)                                 \
                 : "l"(p), "r"(limit)                        \
                 : "memory");                                \
    return old;                                              \
  }
#define KW_ATOMICS(SUFFIX, SCOPE, PTX_SCOPE)                 \
  KW_ATOMIC_INTEGER(int, SUFFIX, SCOPE)                      \
  KW_ATOMIC_INTEGER(unsigned, SUFFIX, SCOPE)                 \
  KW_ATOMIC_INTEGER(long long, SUFFIX, SCOPE)                \
  KW_ATOMIC_INTEGER(unsigned long long, SUFFIX, SCOPE)       \
  KW_ATOMIC_INTEGER(long, SUFFIX, SCOPE)                     \
  KW_ATOMIC_INTEGER(unsigned long, SUFFIX, SCOPE)            \
  KW_ATOMIC_FLOAT(float, unsigned, SUFFIX, SCOPE)            \
  KW_ATOMIC_FLOAT(double, unsigned long long, SUFFIX, SCOPE) \
  KW_ATOMIC_COUNT(atomicInc, "inc", SUFFIX, PTX_SCOPE)       \
  KW_ATOMIC_COUNT(atomicDec, "dec", SUFFIX, PTX_SCOPE)
KW_ATOMICS(, __MEMORY_SCOPE_DEVICE, )
KW_ATOMICS(_block, __MEMORY_SCOPE_WRKGRP, "cta.")
KW_ATOMICS(_system, __MEMORY_SCOPE_SYSTEM, "sys.")
#undef KW_ATOMIC_OP
#undef KW_ATOMIC_SUB
#undef KW_ATOMIC_EXCHANGE
#undef KW_ATOMIC_CAS
#undef KW_ATOMIC_INTEGER
#undef KW_ATOMIC_FLOAT
#undef KW_ATOMIC_COUNT
#undef KW_ATOMICS

KW_FN unsigned short atomicCAS(unsigned short* p, unsigned short expected, unsigned short desired) {
  unsigned short old;
  asm volatile("atom.cas.b16 %0, [%1], %2, %3;"
               : "=h"(old)
               : "l"(p), "h"(expected), "h"(desired)
               : "memory");
  return old;
}
