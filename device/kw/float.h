// Floating-point intrinsics that are one PTX instruction, or a few.
#pragma once

#include <kw/base.h>

#define KW_F1(NAME, T, C, OP)             \
  KW_FN T NAME(T a) {                     \
    T r;                                  \
    asm(OP " %0, %1;" : "=" C(r) : C(a)); \
    return r;                             \
  }
#define KW_F2(NAME, T, C, OP)                       \
  KW_FN T NAME(T a, T b) {                          \
    T r;                                            \
    asm(OP " %0, %1, %2;" : "=" C(r) : C(a), C(b)); \
    return r;                                       \
  }
#define KW_F3(NAME, T, C, OP)                                 \
  KW_FN T NAME(T a, T b, T c) {                               \
    T r;                                                      \
    asm(OP " %0, %1, %2, %3;" : "=" C(r) : C(a), C(b), C(c)); \
    return r;                                                 \
  }
#define KW_ROUNDED(MODE, PTX)                           \
  KW_F2(__fadd_##MODE, float, "f", "add." PTX ".f32")   \
  KW_F2(__fsub_##MODE, float, "f", "sub." PTX ".f32")   \
  KW_F2(__fmul_##MODE, float, "f", "mul." PTX ".f32")   \
  KW_F2(__fdiv_##MODE, float, "f", "div." PTX ".f32")   \
  KW_F3(__fmaf_##MODE, float, "f", "fma." PTX ".f32")   \
  KW_F1(__frcp_##MODE, float, "f", "rcp." PTX ".f32")   \
  KW_F1(__fsqrt_##MODE, float, "f", "sqrt." PTX ".f32") \
  KW_F2(__dadd_##MODE, double, "d", "add." PTX ".f64")  \
  KW_F2(__dsub_##MODE, double, "d", "sub." PTX ".f64")  \
  KW_F2(__dmul_##MODE, double, "d", "mul." PTX ".f64")  \
  KW_F2(__ddiv_##MODE, double, "d", "div." PTX ".f64")  \
  KW_F3(__fma_##MODE, double, "d", "fma." PTX ".f64")   \
  KW_F1(__drcp_##MODE, double, "d", "rcp." PTX ".f64")  \
  KW_F1(__dsqrt_##MODE, double, "d", "sqrt." PTX ".f64")
KW_ROUNDED(rn, "rn")
KW_ROUNDED(rz, "rz")
KW_ROUNDED(ru, "rp")
KW_ROUNDED(rd, "rm")
#undef KW_ROUNDED
KW_F1(kw_ex2, float, "f", "ex2.approx.f32")
KW_F1(kw_lg2, float, "f", "lg2.approx.f32")
KW_F1(kw_rcp, float, "f", "rcp.approx.f32")
KW_F1(kw_tanh, float, "f", "tanh.approx.f32")
KW_F1(rsqrtf, float, "f", "rsqrt.approx.f32")
KW_F1(__sinf, float, "f", "sin.approx.f32")
KW_F1(__cosf, float, "f", "cos.approx.f32")
KW_F1(__saturatef, float, "f", "cvt.sat.f32.f32")
KW_F1(__log2f, float, "f", "lg2.approx.f32")
KW_F2(__fdividef, float, "f", "div.approx.f32")
#undef KW_F1
#undef KW_F2
#undef KW_F3

KW_FN float __frsqrt_rn(float x) {
  const float y = rsqrtf(x);
  const bool ordinary = x > 0 && x < __builtin_inff();
  if (!ordinary) return y;
  const float square = y * y, error = __builtin_fmaf(y, y, -square);
  const float residual = __builtin_fmaf(-x, error, __builtin_fmaf(-x, square, 1.0f));
  return __builtin_fmaf(0.5f * y, residual, y);
}
KW_FN float __expf(float x) { return kw_ex2(x * 1.4426950408889634f); }
KW_FN float __exp10f(float x) { return kw_ex2(x * 3.3219280948873623f); }
KW_FN float __logf(float x) { return kw_lg2(x) * 0.6931471805599453f; }
KW_FN float __log10f(float x) { return kw_lg2(x) * 0.3010299956639812f; }
KW_FN float __tanf(float x) { return __fdividef(__sinf(x), __cosf(x)); }
KW_FN float __tanhf(float x) { return kw_tanh(x); }
KW_FN float __powf(float x, float y) { return kw_ex2(y * kw_lg2(x)); }
KW_FN void __sincosf(float x, float* s, float* c) {
  *s = __sinf(x);
  *c = __cosf(x);
}
KW_FN float fdividef(float a, float b) { return a / b; }
