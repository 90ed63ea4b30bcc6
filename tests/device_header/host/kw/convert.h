// Stands in for device/kw/convert.h on the host: what the math headers use of it.
#pragma once

#include <kw/base.h>

KW_FN int __float2int_rn(float x) { return static_cast<int>(__builtin_rintf(x)); }
KW_FN long long __float2ll_rn(float x) { return static_cast<long long>(__builtin_rintf(x)); }
KW_FN int __double2int_rn(double x) { return static_cast<int>(__builtin_rint(x)); }
KW_FN long long __double2ll_rn(double x) { return static_cast<long long>(__builtin_rint(x)); }
KW_FN int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
KW_FN unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
KW_FN float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
KW_FN long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
KW_FN double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
