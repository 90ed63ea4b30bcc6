// char1 … double4, dim3 and their make_ functions, with CUDA's sizes and alignments.
#pragma once

#include <kw/base.h>

#define KW_VECTOR1(NAME, T) \
  struct NAME##1 {          \
    T x;                    \
  };                        \
  KW_FN constexpr NAME##1 make_##NAME##1(T x) { return NAME##1 {x}; }
#define KW_VECTOR2(NAME, T, ALIGN)  \
  struct __align__(ALIGN) NAME##2 { \
    T x, y;                         \
  };                                \
  KW_FN constexpr NAME##2 make_##NAME##2(T x, T y) { return NAME##2 {x, y}; }
#define KW_VECTOR3(NAME, T) \
  struct NAME##3 {          \
    T x, y, z;              \
  };                        \
  KW_FN constexpr NAME##3 make_##NAME##3(T x, T y, T z) { return NAME##3 {x, y, z}; }
#define KW_VECTOR4(NAME, SUFFIX, T, ALIGN)                                     \
  struct __align__(ALIGN) NAME##4##SUFFIX {                                    \
    T x, y, z, w;                                                              \
  };                                                                           \
  KW_FN constexpr NAME##4##SUFFIX make_##NAME##4##SUFFIX(T x, T y, T z, T w) { \
    return NAME##4##SUFFIX{x, y, z, w};                                        \
  }
#define KW_VECTORS(NAME, T, ALIGN2, ALIGN4) \
  KW_VECTOR1(NAME, T)                       \
  KW_VECTOR2(NAME, T, ALIGN2)               \
  KW_VECTOR3(NAME, T)                       \
  KW_VECTOR4(NAME, , T, ALIGN4)

KW_VECTORS(char, signed char, 2, 4)
KW_VECTORS(uchar, unsigned char, 2, 4)
KW_VECTORS(short, short, 4, 8)
KW_VECTORS(ushort, unsigned short, 4, 8)
KW_VECTORS(int, int, 8, 16)
KW_VECTORS(uint, unsigned int, 8, 16)
KW_VECTORS(long, long, 16, 16)
KW_VECTORS(ulong, unsigned long, 16, 16)
KW_VECTORS(longlong, long long, 16, 16)
KW_VECTORS(ulonglong, unsigned long long, 16, 16)
KW_VECTORS(float, float, 8, 16)
KW_VECTORS(double, double, 16, 16)
KW_VECTOR4(long, _16a, long, 16)
KW_VECTOR4(long, _32a, long, 32)
KW_VECTOR4(ulong, _16a, unsigned long, 16)
KW_VECTOR4(ulong, _32a, unsigned long, 32)
KW_VECTOR4(longlong, _16a, long long, 16)
KW_VECTOR4(longlong, _32a, long long, 32)
KW_VECTOR4(ulonglong, _16a, unsigned long long, 16)
KW_VECTOR4(ulonglong, _32a, unsigned long long, 32)
KW_VECTOR4(double, _16a, double, 16)
KW_VECTOR4(double, _32a, double, 32)

struct dim3 {
  unsigned x, y, z;
  KW_METHOD constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
  KW_METHOD constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  KW_METHOD constexpr operator uint3() const { return uint3{x, y, z}; }
};

#undef KW_VECTOR1
#undef KW_VECTOR2
#undef KW_VECTOR3
#undef KW_VECTOR4
#undef KW_VECTORS
