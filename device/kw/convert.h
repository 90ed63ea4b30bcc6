// Conversions with a stated rounding, and reinterpretation of bits.
#pragma once

#include <kw/base.h>
#include <kw/vector_types.h>

#define KW_CAST(NAME, TO, TO_C, FROM, FROM_C, OP) \
  KW_FN TO NAME(FROM a) {                         \
    TO r;                                         \
    asm(OP " %0, %1;" : "=" TO_C(r) : FROM_C(a)); \
    return r;                                     \
  }
#define KW_FLOAT_TO_INTEGER(MODE, PTX)                                                     \
  KW_CAST(__float2int_##MODE, int, "r", float, "f", "cvt." PTX "i.s32.f32")                \
  KW_CAST(__float2uint_##MODE, unsigned, "r", float, "f", "cvt." PTX "i.u32.f32")          \
  KW_CAST(__float2ll_##MODE, long long, "l", float, "f", "cvt." PTX "i.s64.f32")           \
  KW_CAST(__float2ull_##MODE, unsigned long long, "l", float, "f", "cvt." PTX "i.u64.f32") \
  KW_CAST(__double2int_##MODE, int, "r", double, "d", "cvt." PTX "i.s32.f64")              \
  KW_CAST(__double2uint_##MODE, unsigned, "r", double, "d", "cvt." PTX "i.u32.f64")        \
  KW_CAST(__double2ll_##MODE, long long, "l", double, "d", "cvt." PTX "i.s64.f64")         \
  KW_CAST(__double2ull_##MODE, unsigned long long, "l", double, "d", "cvt." PTX "i.u64.f64")
#define KW_INTEGER_TO_FLOAT(MODE, PTX)                                                      \
  KW_CAST(__int2float_##MODE, float, "f", int, "r", "cvt." PTX ".f32.s32")                  \
  KW_CAST(__uint2float_##MODE, float, "f", unsigned, "r", "cvt." PTX ".f32.u32")            \
  KW_CAST(__ll2float_##MODE, float, "f", long long, "l", "cvt." PTX ".f32.s64")             \
  KW_CAST(__ull2float_##MODE, float, "f", unsigned long long, "l", "cvt." PTX ".f32.u64")   \
  KW_CAST(__ll2double_##MODE, double, "d", long long, "l", "cvt." PTX ".f64.s64")           \
  KW_CAST(__ull2double_##MODE, double, "d", unsigned long long, "l", "cvt." PTX ".f64.u64") \
  KW_CAST(__double2float_##MODE, float, "f", double, "d", "cvt." PTX ".f32.f64")
KW_FLOAT_TO_INTEGER(rn, "rn")
KW_FLOAT_TO_INTEGER(rz, "rz")
KW_FLOAT_TO_INTEGER(ru, "rp")
KW_FLOAT_TO_INTEGER(rd, "rm")
KW_INTEGER_TO_FLOAT(rn, "rn")
KW_INTEGER_TO_FLOAT(rz, "rz")
KW_INTEGER_TO_FLOAT(ru, "rp")
KW_INTEGER_TO_FLOAT(rd, "rm")
#undef KW_FLOAT_TO_INTEGER
#undef KW_INTEGER_TO_FLOAT
#undef KW_CAST
KW_FN double __int2double_rn(int a) { return a; }
KW_FN double __uint2double_rn(unsigned a) { return a; }

KW_FN constexpr int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
KW_FN constexpr unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
KW_FN constexpr float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
KW_FN constexpr float __uint_as_float(unsigned a) { return __builtin_bit_cast(float, a); }
KW_FN constexpr long long __double_as_longlong(double a) {
  return __builtin_bit_cast(long long, a);
}
KW_FN constexpr double __longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }
KW_FN constexpr int __double2hiint(double a) {
  return static_cast<int>(__builtin_bit_cast(unsigned long long, a) >> 32);
}
KW_FN constexpr int __double2loint(double a) {
  return static_cast<int>(__builtin_bit_cast(unsigned long long, a));
}
KW_FN constexpr double __hiloint2double(int high, int low) {
  return __builtin_bit_cast(double, static_cast<unsigned long long>(static_cast<unsigned>(high))
                                            << 32 |
                                        static_cast<unsigned>(low));
}
