// __half and __half2: storage and conversions. Arithmetic is in half_math.h.
#pragma once

#include <kernelwright_device.h>

struct __half_raw {
  unsigned short x;
};
struct __align__(4) __half2_raw {
  unsigned short x, y;
};

KW_FN unsigned short kw_to_half(float a) {
  unsigned short r;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(a));
  return r;
}
KW_FN unsigned short kw_to_half(double a) {
  unsigned short r;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(r) : "d"(a));
  return r;
}
KW_FN float kw_from_half(unsigned short a) {
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(a));
  return r;
}
#define KW_HALF_INTEGER(NAME, T, R, C, P)                             \
  KW_FN unsigned short kw_to_half(T a) {                              \
    unsigned short r;                                                 \
    asm("cvt.rn.f16." P " %0, %1;" : "=h"(r) : C(static_cast<R>(a))); \
    return r;                                                         \
  }
KW_HALF_INTEGER(short, short, short, "h", "s16")
KW_HALF_INTEGER(ushort, unsigned short, unsigned short, "h", "u16")
KW_HALF_INTEGER(int, int, int, "r", "s32")
KW_HALF_INTEGER(uint, unsigned, unsigned, "r", "u32")
KW_HALF_INTEGER(ll, long long, long long, "l", "s64")
KW_HALF_INTEGER(ull, unsigned long long, unsigned long long, "l", "u64")
KW_HALF_INTEGER(l, long, long, "l", "s64")
KW_HALF_INTEGER(ul, unsigned long, unsigned long, "l", "u64")
#undef KW_HALF_INTEGER

struct __align__(2) __half {
  unsigned short __x;

  __half() = default;
  KW_METHOD constexpr __half(const __half_raw& raw) : __x(raw.x) {}
  KW_METHOD __half(float a) : __x(kw_to_half(a)) {}
  KW_METHOD __half(double a) : __x(kw_to_half(a)) {}
  KW_METHOD __half(short a) : __x(kw_to_half(a)) {}
  KW_METHOD __half(unsigned short a) : __x(kw_to_half(a)) {}
  KW_METHOD __half(int a) : __x(kw_to_half(a)) {}
  KW_METHOD __half(unsigned a) : __x(kw_to_half(a)) {}
  KW_METHOD __half(long a) : __x(kw_to_half(a)) {}
  KW_METHOD __half(unsigned long a) : __x(kw_to_half(a)) {}
  KW_METHOD __half(long long a) : __x(kw_to_half(a)) {}
  KW_METHOD __half(unsigned long long a) : __x(kw_to_half(a)) {}
  KW_METHOD constexpr __half& operator=(const __half_raw& raw) {
    __x = raw.x;
    return *this;
  }
  KW_METHOD __half& operator=(float a) {
    __x = kw_to_half(a);
    return *this;
  }
  KW_METHOD __half& operator=(double a) {
    __x = kw_to_half(a);
    return *this;
  }
  KW_METHOD operator float() const { return kw_from_half(__x); }
  KW_METHOD constexpr operator __half_raw() const { return {__x}; }
  KW_METHOD explicit operator bool() const { return (__x & 0x7fff) != 0; }
  KW_METHOD operator int() const { return static_cast<int>(kw_from_half(__x)); }
  KW_METHOD operator unsigned() const { return static_cast<unsigned>(kw_from_half(__x)); }
  KW_METHOD operator short() const { return static_cast<short>(kw_from_half(__x)); }
  KW_METHOD operator unsigned short() const {
    return static_cast<unsigned short>(kw_from_half(__x));
  }
  KW_METHOD operator long long() const { return static_cast<long long>(kw_from_half(__x)); }
  KW_METHOD operator unsigned long long() const {
    return static_cast<unsigned long long>(kw_from_half(__x));
  }
  KW_METHOD operator long() const { return static_cast<long>(kw_from_half(__x)); }
  KW_METHOD operator unsigned long() const { return static_cast<unsigned long>(kw_from_half(__x)); }
  KW_METHOD operator signed char() const { return static_cast<signed char>(kw_from_half(__x)); }
  KW_METHOD operator unsigned char() const { return static_cast<unsigned char>(kw_from_half(__x)); }
  KW_METHOD operator char() const { return static_cast<char>(kw_from_half(__x)); }
};
struct __align__(4) __half2 {
  __half x, y;

  __half2() = default;
  __half2(const __half2&) = default;
  __half2& operator=(const __half2&) = default;
  KW_METHOD constexpr __half2(const __half& a, const __half& b) : x(a), y(b) {}
  KW_METHOD __half2(const __half2_raw& raw) : x(__half_raw{raw.x}), y(__half_raw{raw.y}) {}
  KW_METHOD operator __half2_raw() const { return {x.__x, y.__x}; }
};
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half nv_half;
typedef __half2 nv_half2;

KW_FN unsigned kw_bits(const __half2& a) { return __builtin_bit_cast(unsigned, __half2_raw(a)); }
KW_FN __half2 kw_half2(unsigned bits) { return __half2(__builtin_bit_cast(__half2_raw, bits)); }
KW_FN __half kw_half(unsigned short bits) { return __half(__half_raw{bits}); }

KW_FN float __half2float(__half a) { return kw_from_half(a.__x); }
KW_FN __half __float2half(float a) { return __half(a); }
KW_FN __half __float2half_rn(float a) { return __half(a); }
KW_FN __half __double2half(double a) { return __half(a); }
#define KW_HALF_MODE(MODE, PTX)                            \
  KW_FN __half __float2half_##MODE(float a) {              \
    unsigned short r;                                      \
    asm("cvt." PTX ".f16.f32 %0, %1;" : "=h"(r) : "f"(a)); \
    return kw_half(r);                                     \
  }
KW_HALF_MODE(rz, "rz")
KW_HALF_MODE(rd, "rm")
KW_HALF_MODE(ru, "rp")
#undef KW_HALF_MODE
#define KW_HALF_FROM(NAME, T, C, P, MODE, PTX)             \
  KW_FN __half __##NAME##2half_##MODE(T a) {               \
    unsigned short r;                                      \
    asm("cvt." PTX ".f16." P " %0, %1;" : "=h"(r) : C(a)); \
    return kw_half(r);                                     \
  }
#define KW_HALF_TO(NAME, T, C, P)                                         \
  KW_FN T __half2##NAME##_rn(__half a) {                                  \
    T r;                                                                  \
    asm("cvt.rni." P ".f16 %0, %1;" : "=" C(r) : "h"(a.__x));             \
    return r;                                                             \
  }                                                                       \
  KW_FN T __half2##NAME##_rz(__half a) {                                  \
    T r;                                                                  \
    asm("cvt.rzi." P ".f16 %0, %1;" : "=" C(r) : "h"(a.__x));             \
    return r;                                                             \
  }                                                                       \
  KW_FN T __half2##NAME##_ru(__half a) {                                  \
    T r;                                                                  \
    asm("cvt.rpi." P ".f16 %0, %1;" : "=" C(r) : "h"(a.__x));             \
    return r;                                                             \
  }                                                                       \
  KW_FN T __half2##NAME##_rd(__half a) {                                  \
    T r;                                                                  \
    asm("cvt.rmi." P ".f16 %0, %1;" : "=" C(r) : "h"(a.__x));             \
    return r;                                                             \
  }                                                                       \
  KW_FN __half __##NAME##2half_rn(T a) { return kw_half(kw_to_half(a)); } \
  KW_HALF_FROM(NAME, T, C, P, rz, "rz")                                   \
  KW_HALF_FROM(NAME, T, C, P, ru, "rp")                                   \
  KW_HALF_FROM(NAME, T, C, P, rd, "rm")
KW_HALF_TO(short, short, "h", "s16")
KW_HALF_TO(ushort, unsigned short, "h", "u16")
KW_HALF_TO(int, int, "r", "s32")
KW_HALF_TO(uint, unsigned, "r", "u32")
KW_HALF_TO(ll, long long, "l", "s64")
KW_HALF_TO(ull, unsigned long long, "l", "u64")
#undef KW_HALF_TO
#undef KW_HALF_FROM
KW_FN short __half_as_short(__half a) { return static_cast<short>(a.__x); }
KW_FN unsigned short __half_as_ushort(__half a) { return a.__x; }
KW_FN __half __short_as_half(short a) { return kw_half(static_cast<unsigned short>(a)); }
KW_FN __half __ushort_as_half(unsigned short a) { return kw_half(a); }

KW_FN __half2 __floats2half2_rn(float a, float b) {
  unsigned r;
  asm("{\n\t.reg .b16 low, high;\n\tcvt.rn.f16.f32 low, %1;\n\tcvt.rn.f16.f32 high, %2;\n\tmov.b32 "
      "%0, {low, high};\n\t}"
      : "=r"(r)
      : "f"(a), "f"(b));
  return kw_half2(r);
}
KW_FN __half2 __float22half2_rn(float2 a) { return __floats2half2_rn(a.x, a.y); }
KW_FN __half2 __float2half2_rn(float a) { return __floats2half2_rn(a, a); }
KW_FN float2 __half22float2(__half2 a) { return {__half2float(a.x), __half2float(a.y)}; }
KW_FN float __low2float(__half2 a) { return __half2float(a.x); }
KW_FN float __high2float(__half2 a) { return __half2float(a.y); }
KW_FN __half __low2half(__half2 a) { return a.x; }
KW_FN __half __high2half(__half2 a) { return a.y; }
KW_FN __half2 __low2half2(__half2 a) { return {a.x, a.x}; }
KW_FN __half2 __high2half2(__half2 a) { return {a.y, a.y}; }
KW_FN __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
KW_FN __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
KW_FN __half2 __lowhigh2highlow(__half2 a) { return {a.y, a.x}; }
KW_FN __half2 __half2half2(__half a) { return {a, a}; }
KW_FN __half2 __halves2half2(__half a, __half b) { return {a, b}; }
KW_FN __half2 make_half2(__half a, __half b) { return {a, b}; }
