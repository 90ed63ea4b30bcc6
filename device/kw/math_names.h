// The C++ names of the math functions: float overloads, integers as double, min and max,
// classification, namespace std.
#pragma once

#include <kw/math.h>

template <bool kHolds, typename T>
struct kw_enable {};
template <typename T>
struct kw_enable<true, T> {
  typedef T type;
};

#define KW_UNARY(NAME)                                                 \
  KW_FN float NAME(float x) { return NAME##f(x); }                     \
  template <typename T>                                                \
  KW_FN typename kw_enable<__is_integral(T), double>::type NAME(T x) { \
    return NAME(static_cast<double>(x));                               \
  }
#define KW_BINARY(NAME)                                                                        \
  KW_FN float NAME(float x, float y) { return NAME##f(x, y); }                                 \
  template <typename T, typename U>                                                            \
  KW_FN typename kw_enable<__is_arithmetic(T) && __is_arithmetic(U), double>::type NAME(T x,   \
                                                                                        U y) { \
    return NAME(static_cast<double>(x), static_cast<double>(y));                               \
  }
KW_UNARY(sqrt)
KW_UNARY(rsqrt)
KW_UNARY(exp)
KW_UNARY(exp2)
KW_UNARY(exp10)
KW_UNARY(expm1)
KW_UNARY(log)
KW_UNARY(log2)
KW_UNARY(log10)
KW_UNARY(log1p)
KW_UNARY(sin)
KW_UNARY(cos)
KW_UNARY(tan)
KW_UNARY(sinpi)
KW_UNARY(cospi)
KW_UNARY(sinh)
KW_UNARY(cosh)
KW_UNARY(tanh)
KW_UNARY(asin)
KW_UNARY(acos)
KW_UNARY(atan)
KW_UNARY(asinh)
KW_UNARY(acosh)
KW_UNARY(atanh)
KW_UNARY(erf)
KW_UNARY(erfc)
KW_UNARY(lgamma)
KW_UNARY(tgamma)
KW_UNARY(cbrt)
KW_UNARY(rcbrt)
KW_UNARY(floor)
KW_UNARY(ceil)
KW_UNARY(trunc)
KW_UNARY(rint)
KW_UNARY(nearbyint)
KW_UNARY(round)
KW_UNARY(fabs)
KW_UNARY(logb)
KW_UNARY(normcdf)
KW_UNARY(erfinv)
KW_UNARY(erfcinv)
KW_UNARY(erfcx)
KW_UNARY(normcdfinv)
KW_BINARY(pow)
KW_BINARY(atan2)
KW_BINARY(hypot)
KW_BINARY(rhypot)
KW_BINARY(fmod)
KW_BINARY(remainder)
KW_BINARY(fmin)
KW_BINARY(fmax)
KW_BINARY(fdim)
KW_BINARY(copysign)
KW_BINARY(nextafter)
#undef KW_UNARY
#undef KW_BINARY
KW_FN float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
KW_FN float ldexp(float x, int n) { return ldexpf(x, n); }
KW_FN float scalbn(float x, int n) { return scalbnf(x, n); }
KW_FN float scalbln(float x, long n) { return scalblnf(x, n); }
KW_FN float frexp(float x, int* e) { return frexpf(x, e); }
KW_FN float modf(float x, float* whole) { return modff(x, whole); }
KW_FN int ilogb(float x) { return ilogbf(x); }
KW_FN long lrint(float x) { return lrintf(x); }
KW_FN long lround(float x) { return lroundf(x); }
KW_FN long long llrint(float x) { return llrintf(x); }
KW_FN long long llround(float x) { return llroundf(x); }
KW_FN void sincos(float x, float* s, float* c) { sincosf(x, s, c); }
KW_FN void sincospi(float x, float* s, float* c) { sincospif(x, s, c); }
KW_FN float abs(float x) { return __builtin_fabsf(x); }
KW_FN double abs(double x) { return __builtin_fabs(x); }
KW_FN float saturate(float x) { return __saturatef(x); }

KW_FN constexpr bool isnan(float x) { return x != x; }
KW_FN constexpr bool isnan(double x) { return x != x; }
KW_FN constexpr bool isinf(float x) { return __builtin_fabsf(x) == __builtin_inff(); }
KW_FN constexpr bool isinf(double x) { return __builtin_fabs(x) == __builtin_inf(); }
KW_FN constexpr bool isfinite(float x) { return __builtin_fabsf(x) < __builtin_inff(); }
KW_FN constexpr bool isfinite(double x) { return __builtin_fabs(x) < __builtin_inf(); }
KW_FN constexpr bool isnormal(float x) {
  return isfinite(x) && __builtin_fabsf(x) >= 1.17549435e-38f;
}
KW_FN constexpr bool isnormal(double x) {
  return isfinite(x) && __builtin_fabs(x) >= 2.2250738585072014e-308;
}
KW_FN constexpr bool signbit(float x) { return __builtin_bit_cast(int, x) < 0; }
KW_FN constexpr bool signbit(double x) { return __builtin_bit_cast(long long, x) < 0; }
KW_FN bool __isnan(double x) { return x != x; }
KW_FN bool __isnanf(float x) { return x != x; }
KW_FN bool __isinff(float x) { return isinf(x); }
KW_FN bool __finitef(float x) { return isfinite(x); }

#define KW_MIN_MAX(T)                                       \
  KW_FN constexpr T min(T a, T b) { return b < a ? b : a; } \
  KW_FN constexpr T max(T a, T b) { return a < b ? b : a; }
#define KW_MIN_MAX_MIXED(R, A, B)                                                       \
  KW_FN constexpr R min(A a, B b) { return min(static_cast<R>(a), static_cast<R>(b)); } \
  KW_FN constexpr R max(A a, B b) { return max(static_cast<R>(a), static_cast<R>(b)); } \
  KW_FN constexpr R min(B a, A b) { return min(static_cast<R>(a), static_cast<R>(b)); } \
  KW_FN constexpr R max(B a, A b) { return max(static_cast<R>(a), static_cast<R>(b)); }
KW_MIN_MAX(int)
KW_MIN_MAX(unsigned)
KW_MIN_MAX(long)
KW_MIN_MAX(unsigned long)
KW_MIN_MAX(long long)
KW_MIN_MAX(unsigned long long)
KW_MIN_MAX_MIXED(unsigned, int, unsigned)
KW_MIN_MAX_MIXED(long, int, long)
KW_MIN_MAX_MIXED(long long, int, long long)
KW_MIN_MAX_MIXED(unsigned long, long, unsigned long)
KW_MIN_MAX_MIXED(unsigned long, unsigned, unsigned long)
KW_MIN_MAX_MIXED(unsigned long long, long long, unsigned long long)
KW_MIN_MAX_MIXED(unsigned long long, unsigned, unsigned long long)
#undef KW_MIN_MAX
#undef KW_MIN_MAX_MIXED
KW_FN float min(float a, float b) { return __builtin_fminf(a, b); }
KW_FN float max(float a, float b) { return __builtin_fmaxf(a, b); }
KW_FN double min(double a, double b) { return __builtin_fmin(a, b); }
KW_FN double max(double a, double b) { return __builtin_fmax(a, b); }
KW_FN double min(float a, double b) { return __builtin_fmin(a, b); }
KW_FN double max(float a, double b) { return __builtin_fmax(a, b); }
KW_FN double min(double a, float b) { return __builtin_fmin(a, b); }
KW_FN double max(double a, float b) { return __builtin_fmax(a, b); }
KW_FN unsigned umin(unsigned a, unsigned b) { return min(a, b); }
KW_FN unsigned umax(unsigned a, unsigned b) { return max(a, b); }
KW_FN long long llmin(long long a, long long b) { return min(a, b); }
KW_FN long long llmax(long long a, long long b) { return max(a, b); }
KW_FN unsigned long long ullmin(unsigned long long a, unsigned long long b) { return min(a, b); }
KW_FN unsigned long long ullmax(unsigned long long a, unsigned long long b) { return max(a, b); }

namespace std {
using ::abs, ::acos, ::acosf, ::acosh, ::acoshf, ::asin, ::asinf, ::asinh, ::asinhf, ::atan,
    ::atan2, ::atan2f, ::atanf, ::atanh, ::atanhf, ::cbrt, ::cbrtf, ::ceil, ::ceilf, ::copysign,
    ::copysignf, ::cos, ::cosf, ::cosh, ::coshf, ::erf, ::erfc, ::erfcf, ::erff, ::exp, ::exp2,
    ::exp2f, ::expf, ::expm1, ::expm1f, ::fabs, ::fabsf, ::fdim, ::fdimf, ::floor, ::floorf, ::fma,
    ::fmaf, ::fmax, ::fmaxf, ::fmin, ::fminf, ::fmod, ::fmodf, ::frexp, ::hypot, ::hypotf, ::ilogb,
    ::isfinite, ::isinf, ::isnan, ::isnormal, ::ldexp, ::ldexpf, ::lgamma, ::lgammaf, ::llrint,
    ::llround, ::log, ::log10, ::log10f, ::log1p, ::log1pf, ::log2, ::log2f, ::logb, ::logf,
    ::lrint, ::lround, ::modf, ::nan, ::nearbyint, ::nearbyintf, ::nextafter, ::pow, ::powf,
    ::remainder, ::remainderf, ::rint, ::rintf, ::round, ::roundf, ::scalbn, ::signbit, ::sin,
    ::sinf, ::sinh, ::sinhf, ::sqrt, ::sqrtf, ::tan, ::tanf, ::tanh, ::tanhf, ::tgamma, ::tgammaf,
    ::trunc, ::truncf;
}  // namespace std
