// __nv_bfloat16 and __nv_bfloat162: storage and conversions. Arithmetic is in bfloat16_math.h.
#pragma once

#include <kernelwright_device.h>

struct __nv_bfloat16_raw {
  unsigned short x;
};
struct __align__(4) __nv_bfloat162_raw {
  unsigned short x, y;
};

#if __CUDA_ARCH__ >= 800
KW_FN unsigned short kw_to_bfloat16(float a) {
  unsigned short r;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(a));
  return r;
}
#else
KW_FN unsigned short kw_to_bfloat16(float a) {
  const unsigned bits = __float_as_uint(a);
  if (a != a) return 0x7fff;
  return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
#endif
KW_FN constexpr float kw_from_bfloat16(unsigned short a) {
  return __builtin_bit_cast(float, static_cast<unsigned>(a) << 16);
}
// Rounding twice (to float, then to bfloat16) would be wrong for these: round to odd first.
KW_FN unsigned short kw_to_bfloat16(double a) {
  float f = static_cast<float>(a);
  const double back = f;
  unsigned bits = __float_as_uint(f);
  if (back != a && a == a && (bits & 1) == 0 && __builtin_fabsf(f) < __builtin_inff()) {
    bits += (__builtin_fabs(back) < __builtin_fabs(a)) ? 1 : -1;
    f = __uint_as_float(bits);
  }
  return kw_to_bfloat16(f);
}

struct __align__(2) __nv_bfloat16 {
  unsigned short __x;

  __nv_bfloat16() = default;
  KW_METHOD constexpr __nv_bfloat16(const __nv_bfloat16_raw& raw) : __x(raw.x) {}
  KW_METHOD __nv_bfloat16(float a) : __x(kw_to_bfloat16(a)) {}
  KW_METHOD __nv_bfloat16(double a) : __x(kw_to_bfloat16(a)) {}
  KW_METHOD __nv_bfloat16(short a) : __x(kw_to_bfloat16(static_cast<float>(a))) {}
  KW_METHOD __nv_bfloat16(unsigned short a) : __x(kw_to_bfloat16(static_cast<float>(a))) {}
  KW_METHOD __nv_bfloat16(int a) : __x(kw_to_bfloat16(static_cast<double>(a))) {}
  KW_METHOD __nv_bfloat16(unsigned a) : __x(kw_to_bfloat16(static_cast<double>(a))) {}
  KW_METHOD __nv_bfloat16(long a) : __x(kw_to_bfloat16(static_cast<double>(a))) {}
  KW_METHOD __nv_bfloat16(unsigned long a) : __x(kw_to_bfloat16(static_cast<double>(a))) {}
  KW_METHOD __nv_bfloat16(long long a) : __x(kw_to_bfloat16(static_cast<double>(a))) {}
  KW_METHOD __nv_bfloat16(unsigned long long a) : __x(kw_to_bfloat16(static_cast<double>(a))) {}
  KW_METHOD constexpr __nv_bfloat16& operator=(const __nv_bfloat16_raw& raw) {
    __x = raw.x;
    return *this;
  }
  KW_METHOD __nv_bfloat16& operator=(float a) {
    __x = kw_to_bfloat16(a);
    return *this;
  }
  KW_METHOD __nv_bfloat16& operator=(double a) {
    __x = kw_to_bfloat16(a);
    return *this;
  }
  KW_METHOD operator float() const { return kw_from_bfloat16(__x); }
  KW_METHOD constexpr operator __nv_bfloat16_raw() const { return {__x}; }
  KW_METHOD explicit operator bool() const { return (__x & 0x7fff) != 0; }
  KW_METHOD operator int() const { return static_cast<int>(kw_from_bfloat16(__x)); }
  KW_METHOD operator unsigned() const { return static_cast<unsigned>(kw_from_bfloat16(__x)); }
  KW_METHOD operator short() const { return static_cast<short>(kw_from_bfloat16(__x)); }
  KW_METHOD operator unsigned short() const {
    return static_cast<unsigned short>(kw_from_bfloat16(__x));
  }
  KW_METHOD operator long long() const { return static_cast<long long>(kw_from_bfloat16(__x)); }
  KW_METHOD operator unsigned long long() const {
    return static_cast<unsigned long long>(kw_from_bfloat16(__x));
  }
  KW_METHOD operator long() const { return static_cast<long>(kw_from_bfloat16(__x)); }
  KW_METHOD operator unsigned long() const {
    return static_cast<unsigned long>(kw_from_bfloat16(__x));
  }
  KW_METHOD operator signed char() const { return static_cast<signed char>(kw_from_bfloat16(__x)); }
  KW_METHOD operator unsigned char() const {
    return static_cast<unsigned char>(kw_from_bfloat16(__x));
  }
  KW_METHOD operator char() const { return static_cast<char>(kw_from_bfloat16(__x)); }
};
struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;

  __nv_bfloat162() = default;
  __nv_bfloat162(const __nv_bfloat162&) = default;
  __nv_bfloat162& operator=(const __nv_bfloat162&) = default;
  KW_METHOD constexpr __nv_bfloat162(const __nv_bfloat16& a, const __nv_bfloat16& b) : x(a), y(b) {}
  KW_METHOD __nv_bfloat162(const __nv_bfloat162_raw& raw)
      : x(__nv_bfloat16_raw{raw.x}), y(__nv_bfloat16_raw{raw.y}) {}
  KW_METHOD operator __nv_bfloat162_raw() const { return {x.__x, y.__x}; }
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

KW_FN unsigned kw_bits(const __nv_bfloat162& a) {
  return __builtin_bit_cast(unsigned, __nv_bfloat162_raw(a));
}
KW_FN __nv_bfloat162 kw_bfloat162(unsigned bits) {
  return __nv_bfloat162(__builtin_bit_cast(__nv_bfloat162_raw, bits));
}
KW_FN __nv_bfloat16 kw_bfloat16(unsigned short bits) {
  return __nv_bfloat16(__nv_bfloat16_raw{bits});
}

KW_FN float __bfloat162float(__nv_bfloat16 a) { return kw_from_bfloat16(a.__x); }
KW_FN __nv_bfloat16 __float2bfloat16(float a) { return __nv_bfloat16(a); }
KW_FN __nv_bfloat16 __float2bfloat16_rn(float a) { return __nv_bfloat16(a); }
KW_FN __nv_bfloat16 __double2bfloat16(double a) { return __nv_bfloat16(a); }
KW_FN __nv_bfloat16 __float2bfloat16_rz(float a) {
  return kw_bfloat16(a != a ? 0x7fff : static_cast<unsigned short>(__float_as_uint(a) >> 16));
}
// Away from zero by one step where bits are lost and the direction asks for it.
KW_FN __nv_bfloat16 kw_bfloat16_toward(float a, bool negative) {
  const unsigned bits = __float_as_uint(a);
  const bool step = (bits & 0xffffu) != 0 && (bits >> 31 != 0) == negative;
  return kw_bfloat16(a != a ? 0x7fff : static_cast<unsigned short>((bits >> 16) + (step ? 1 : 0)));
}
KW_FN __nv_bfloat16 __float2bfloat16_ru(float a) { return kw_bfloat16_toward(a, false); }
KW_FN __nv_bfloat16 __float2bfloat16_rd(float a) { return kw_bfloat16_toward(a, true); }
KW_FN int __bfloat162int_rn(__nv_bfloat16 a) { return __float2int_rn(kw_from_bfloat16(a.__x)); }
KW_FN int __bfloat162int_rz(__nv_bfloat16 a) { return __float2int_rz(kw_from_bfloat16(a.__x)); }
KW_FN unsigned __bfloat162uint_rn(__nv_bfloat16 a) {
  return __float2uint_rn(kw_from_bfloat16(a.__x));
}
KW_FN unsigned __bfloat162uint_rz(__nv_bfloat16 a) {
  return __float2uint_rz(kw_from_bfloat16(a.__x));
}
KW_FN long long __bfloat162ll_rn(__nv_bfloat16 a) { return __float2ll_rn(kw_from_bfloat16(a.__x)); }
KW_FN __nv_bfloat16 __int2bfloat16_rn(int a) { return __nv_bfloat16(a); }
KW_FN __nv_bfloat16 __uint2bfloat16_rn(unsigned a) { return __nv_bfloat16(a); }
KW_FN __nv_bfloat16 __short2bfloat16_rn(short a) { return __nv_bfloat16(a); }
KW_FN __nv_bfloat16 __ushort2bfloat16_rn(unsigned short a) { return __nv_bfloat16(a); }
KW_FN __nv_bfloat16 __ll2bfloat16_rn(long long a) { return __nv_bfloat16(a); }
KW_FN short __bfloat16_as_short(__nv_bfloat16 a) { return static_cast<short>(a.__x); }
KW_FN unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.__x; }
KW_FN __nv_bfloat16 __short_as_bfloat16(short a) {
  return kw_bfloat16(static_cast<unsigned short>(a));
}
KW_FN __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) { return kw_bfloat16(a); }

KW_FN __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
#if __CUDA_ARCH__ >= 800
  unsigned r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(b), "f"(a));
  return kw_bfloat162(r);
#else
  return {__nv_bfloat16(a), __nv_bfloat16(b)};
#endif
}
KW_FN __nv_bfloat162 __float22bfloat162_rn(float2 a) { return __floats2bfloat162_rn(a.x, a.y); }
KW_FN __nv_bfloat162 __float2bfloat162_rn(float a) { return __floats2bfloat162_rn(a, a); }
KW_FN float2 __bfloat1622float2(__nv_bfloat162 a) {
  return {__bfloat162float(a.x), __bfloat162float(a.y)};
}
KW_FN float __low2float(__nv_bfloat162 a) { return __bfloat162float(a.x); }
KW_FN float __high2float(__nv_bfloat162 a) { return __bfloat162float(a.y); }
KW_FN __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
KW_FN __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
KW_FN __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return {a.x, a.x}; }
KW_FN __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return {a.y, a.y}; }
KW_FN __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.x, b.x}; }
KW_FN __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) { return {a.y, b.y}; }
KW_FN __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) { return {a.y, a.x}; }
KW_FN __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
KW_FN __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
KW_FN __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
