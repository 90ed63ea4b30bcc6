// Loads and stores with a cache operator, conversions between address spaces, asynchronous copies.
#pragma once

#include <kw/base.h>
#include <kw/vector_types.h>

// T: the type; R: what the register holds; C: its constraint; P: its PTX type.
#define KW_LOAD1(NAME, OP, QUALIFIER, T, R, C, P)                                                \
  KW_FN T NAME(const T* p) {                                                                     \
    R v;                                                                                         \
    asm QUALIFIER("ld.global." OP "." P " %0, [%1];" : "=" C(v) : "l"(p)KW_CLOBBER_##QUALIFIER); \
    return static_cast<T>(v);                                                                    \
  }
#define KW_LOAD2(NAME, OP, QUALIFIER, T, R, C, P)            \
  KW_FN T NAME(const T* p) {                                 \
    R a, b;                                                  \
    asm QUALIFIER("ld.global." OP ".v2." P " {%0,%1}, [%2];" \
                  : "=" C(a), "=" C(b)                       \
                  : "l"(p)KW_CLOBBER_##QUALIFIER);           \
    using E = decltype(T::x);                                \
    return T{static_cast<E>(a), static_cast<E>(b)};          \
  }
#define KW_LOAD4(NAME, OP, QUALIFIER, T, R, C, P)                                         \
  KW_FN T NAME(const T* p) {                                                              \
    R a, b, c, d;                                                                         \
    asm QUALIFIER("ld.global." OP ".v4." P " {%0,%1,%2,%3}, [%4];"                        \
                  : "=" C(a), "=" C(b), "=" C(c), "=" C(d)                                \
                  : "l"(p)KW_CLOBBER_##QUALIFIER);                                        \
    using E = decltype(T::x);                                                             \
    return T{static_cast<E>(a), static_cast<E>(b), static_cast<E>(c), static_cast<E>(d)}; \
  }
#define KW_STORE1(NAME, OP, T, R, C, P)                                                         \
  KW_FN void NAME(T* p, T v) {                                                                  \
    asm volatile("st.global." OP "." P " [%0], %1;" ::"l"(p), C(static_cast<R>(v)) : "memory"); \
  }
#define KW_STORE2(NAME, OP, T, R, C, P)                                                       \
  KW_FN void NAME(T* p, T v) {                                                                \
    asm volatile("st.global." OP ".v2." P " [%0], {%1,%2};" ::"l"(p), C(static_cast<R>(v.x)), \
                 C(static_cast<R>(v.y))                                                       \
                 : "memory");                                                                 \
  }
#define KW_STORE4(NAME, OP, T, R, C, P)                                                  \
  KW_FN void NAME(T* p, T v) {                                                           \
    asm volatile("st.global." OP ".v4." P " [%0], {%1,%2,%3,%4};" ::"l"(p),              \
                 C(static_cast<R>(v.x)), C(static_cast<R>(v.y)), C(static_cast<R>(v.z)), \
                 C(static_cast<R>(v.w))                                                  \
                 : "memory");                                                            \
  }
#define KW_CLOBBER_
#define KW_CLOBBER_volatile : "memory"

#define KW_LOADS(NAME, OP, QUALIFIER)                                               \
  KW_LOAD1(NAME, OP, QUALIFIER, char, unsigned, "r", "s8")                          \
  KW_LOAD1(NAME, OP, QUALIFIER, signed char, unsigned, "r", "s8")                   \
  KW_LOAD1(NAME, OP, QUALIFIER, unsigned char, unsigned, "r", "u8")                 \
  KW_LOAD1(NAME, OP, QUALIFIER, short, short, "h", "s16")                           \
  KW_LOAD1(NAME, OP, QUALIFIER, unsigned short, unsigned short, "h", "u16")         \
  KW_LOAD1(NAME, OP, QUALIFIER, int, int, "r", "s32")                               \
  KW_LOAD1(NAME, OP, QUALIFIER, unsigned, unsigned, "r", "u32")                     \
  KW_LOAD1(NAME, OP, QUALIFIER, long, long, "l", "s64")                             \
  KW_LOAD1(NAME, OP, QUALIFIER, unsigned long, unsigned long, "l", "u64")           \
  KW_LOAD1(NAME, OP, QUALIFIER, long long, long long, "l", "s64")                   \
  KW_LOAD1(NAME, OP, QUALIFIER, unsigned long long, unsigned long long, "l", "u64") \
  KW_LOAD1(NAME, OP, QUALIFIER, float, float, "f", "f32")                           \
  KW_LOAD1(NAME, OP, QUALIFIER, double, double, "d", "f64")                         \
  KW_LOAD2(NAME, OP, QUALIFIER, char2, unsigned, "r", "s8")                         \
  KW_LOAD2(NAME, OP, QUALIFIER, uchar2, unsigned, "r", "u8")                        \
  KW_LOAD2(NAME, OP, QUALIFIER, short2, short, "h", "s16")                          \
  KW_LOAD2(NAME, OP, QUALIFIER, ushort2, unsigned short, "h", "u16")                \
  KW_LOAD2(NAME, OP, QUALIFIER, int2, int, "r", "s32")                              \
  KW_LOAD2(NAME, OP, QUALIFIER, uint2, unsigned, "r", "u32")                        \
  KW_LOAD2(NAME, OP, QUALIFIER, float2, float, "f", "f32")                          \
  KW_LOAD2(NAME, OP, QUALIFIER, longlong2, long long, "l", "s64")                   \
  KW_LOAD2(NAME, OP, QUALIFIER, ulonglong2, unsigned long long, "l", "u64")         \
  KW_LOAD2(NAME, OP, QUALIFIER, long2, long, "l", "s64")                            \
  KW_LOAD2(NAME, OP, QUALIFIER, ulong2, unsigned long, "l", "u64")                  \
  KW_LOAD2(NAME, OP, QUALIFIER, double2, double, "d", "f64")                        \
  KW_LOAD4(NAME, OP, QUALIFIER, char4, unsigned, "r", "s8")                         \
  KW_LOAD4(NAME, OP, QUALIFIER, uchar4, unsigned, "r", "u8")                        \
  KW_LOAD4(NAME, OP, QUALIFIER, short4, short, "h", "s16")                          \
  KW_LOAD4(NAME, OP, QUALIFIER, ushort4, unsigned short, "h", "u16")                \
  KW_LOAD4(NAME, OP, QUALIFIER, int4, int, "r", "s32")                              \
  KW_LOAD4(NAME, OP, QUALIFIER, uint4, unsigned, "r", "u32")                        \
  KW_LOAD4(NAME, OP, QUALIFIER, float4, float, "f", "f32")
KW_LOADS(__ldg, "nc", )
KW_LOADS(__ldca, "ca", volatile)
KW_LOADS(__ldcg, "cg", volatile)
KW_LOADS(__ldcs, "cs", volatile)
KW_LOADS(__ldlu, "lu", volatile)
KW_LOADS(__ldcv, "cv", volatile)

#define KW_STORES(NAME, OP)                                               \
  KW_STORE1(NAME, OP, char, unsigned, "r", "s8")                          \
  KW_STORE1(NAME, OP, signed char, unsigned, "r", "s8")                   \
  KW_STORE1(NAME, OP, unsigned char, unsigned, "r", "u8")                 \
  KW_STORE1(NAME, OP, short, short, "h", "s16")                           \
  KW_STORE1(NAME, OP, unsigned short, unsigned short, "h", "u16")         \
  KW_STORE1(NAME, OP, int, int, "r", "s32")                               \
  KW_STORE1(NAME, OP, unsigned, unsigned, "r", "u32")                     \
  KW_STORE1(NAME, OP, long, long, "l", "s64")                             \
  KW_STORE1(NAME, OP, unsigned long, unsigned long, "l", "u64")           \
  KW_STORE1(NAME, OP, long long, long long, "l", "s64")                   \
  KW_STORE1(NAME, OP, unsigned long long, unsigned long long, "l", "u64") \
  KW_STORE1(NAME, OP, float, float, "f", "f32")                           \
  KW_STORE1(NAME, OP, double, double, "d", "f64")                         \
  KW_STORE2(NAME, OP, char2, unsigned, "r", "s8")                         \
  KW_STORE2(NAME, OP, uchar2, unsigned, "r", "u8")                        \
  KW_STORE2(NAME, OP, short2, short, "h", "s16")                          \
  KW_STORE2(NAME, OP, ushort2, unsigned short, "h", "u16")                \
  KW_STORE2(NAME, OP, int2, int, "r", "s32")                              \
  KW_STORE2(NAME, OP, uint2, unsigned, "r", "u32")                        \
  KW_STORE2(NAME, OP, float2, float, "f", "f32")                          \
  KW_STORE2(NAME, OP, longlong2, long long, "l", "s64")                   \
  KW_STORE2(NAME, OP, ulonglong2, unsigned long long, "l", "u64")         \
  KW_STORE2(NAME, OP, long2, long, "l", "s64")                            \
  KW_STORE2(NAME, OP, ulong2, unsigned long, "l", "u64")                  \
  KW_STORE2(NAME, OP, double2, double, "d", "f64")                        \
  KW_STORE4(NAME, OP, char4, unsigned, "r", "s8")                         \
  KW_STORE4(NAME, OP, uchar4, unsigned, "r", "u8")                        \
  KW_STORE4(NAME, OP, short4, short, "h", "s16")                          \
  KW_STORE4(NAME, OP, ushort4, unsigned short, "h", "u16")                \
  KW_STORE4(NAME, OP, int4, int, "r", "s32")                              \
  KW_STORE4(NAME, OP, uint4, unsigned, "r", "u32")                        \
  KW_STORE4(NAME, OP, float4, float, "f", "f32")
KW_STORES(__stwb, "wb")
KW_STORES(__stcg, "cg")
KW_STORES(__stcs, "cs")
KW_STORES(__stwt, "wt")
#undef KW_LOADS
#undef KW_STORES

KW_FN size_t __cvta_generic_to_shared(const void* p) {
  size_t r;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(r) : "l"(p));
  return r;
}
KW_FN size_t __cvta_generic_to_global(const void* p) {
  size_t r;
  asm("cvta.to.global.u64 %0, %1;" : "=l"(r) : "l"(p));
  return r;
}
KW_FN size_t __cvta_generic_to_local(const void* p) {
  size_t r;
  asm("cvta.to.local.u64 %0, %1;" : "=l"(r) : "l"(p));
  return r;
}
KW_FN void* __cvta_shared_to_generic(size_t a) {
  void* r;
  asm("cvta.shared.u64 %0, %1;" : "=l"(r) : "l"(a));
  return r;
}
KW_FN void* __cvta_global_to_generic(size_t a) {
  void* r;
  asm("cvta.global.u64 %0, %1;" : "=l"(r) : "l"(a));
  return r;
}
#define KW_IS_SPACE(NAME, SPACE)                                                        \
  KW_FN unsigned NAME(const void* p) {                                                  \
    unsigned r;                                                                         \
    asm("{\n\t.reg .pred p;\n\tisspacep." SPACE " p, %1;\n\tselp.u32 %0, 1, 0, p;\n\t}" \
        : "=r"(r)                                                                       \
        : "l"(p));                                                                      \
    return r;                                                                           \
  }
KW_IS_SPACE(__isGlobal, "global")
KW_IS_SPACE(__isShared, "shared")
KW_IS_SPACE(__isConstant, "const")
KW_IS_SPACE(__isLocal, "local")
#undef KW_IS_SPACE

KW_FN void* memcpy(void* to, const void* from, size_t n) { return __builtin_memcpy(to, from, n); }
KW_FN void* memmove(void* to, const void* from, size_t n) { return __builtin_memmove(to, from, n); }
KW_FN void* memset(void* to, int value, size_t n) { return __builtin_memset(to, value, n); }
