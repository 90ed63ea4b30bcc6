// The __h… functions, operators, shuffles and cached loads of one 16-bit float type KW_S and its
// pair KW_V. Included once for __half and once for __nv_bfloat16, hence no guard.

#define KW_BOTH1(NAME, NAME2, CALL)           \
  KW_FN KW_S NAME(KW_S a) { return CALL(a); } \
  KW_FN KW_V NAME2(KW_V a) { return CALL(a); }
#define KW_BOTH2(NAME, NAME2, CALL)                      \
  KW_FN KW_S NAME(KW_S a, KW_S b) { return CALL(a, b); } \
  KW_FN KW_V NAME2(KW_V a, KW_V b) { return CALL(a, b); }
#define KW_BOTH3(NAME, NAME2, CALL)                                 \
  KW_FN KW_S NAME(KW_S a, KW_S b, KW_S c) { return CALL(a, b, c); } \
  KW_FN KW_V NAME2(KW_V a, KW_V b, KW_V c) { return CALL(a, b, c); }
KW_BOTH1(__hneg, __hneg2, kw_neg)
KW_BOTH1(__habs, __habs2, kw_abs)
KW_BOTH2(__hadd, __hadd2, kw_add)
KW_BOTH2(__hsub, __hsub2, kw_sub)
KW_BOTH2(__hmul, __hmul2, kw_mul)
KW_BOTH2(__hadd_rn, __hadd2_rn, kw_add)
KW_BOTH2(__hsub_rn, __hsub2_rn, kw_sub)
KW_BOTH2(__hmul_rn, __hmul2_rn, kw_mul)
KW_BOTH2(__hadd_sat, __hadd2_sat, kw_add_sat)
KW_BOTH2(__hsub_sat, __hsub2_sat, kw_sub_sat)
KW_BOTH2(__hmul_sat, __hmul2_sat, kw_mul_sat)
KW_BOTH2(__hmax, __hmax2, kw_max)
KW_BOTH2(__hmin, __hmin2, kw_min)
KW_BOTH2(__hmax_nan, __hmax2_nan, kw_max_nan)
KW_BOTH2(__hmin_nan, __hmin2_nan, kw_min_nan)
KW_BOTH3(__hfma, __hfma2, kw_fma)
KW_BOTH3(__hfma_sat, __hfma2_sat, kw_fma_sat)
KW_BOTH3(__hfma_relu, __hfma2_relu, kw_fma_relu)
#undef KW_BOTH1
#undef KW_BOTH2
#undef KW_BOTH3
KW_FN KW_S __hdiv(KW_S a, KW_S b) { return KW_OF_FLOAT(KW_TO_FLOAT(a) / KW_TO_FLOAT(b)); }
KW_FN KW_V __h2div(KW_V a, KW_V b) { return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)}; }

// Functions computed in single precision and rounded once.
#define KW_THROUGH_FLOAT(NAME, NAME2, CALL)                             \
  KW_FN KW_S NAME(KW_S a) { return KW_OF_FLOAT(CALL(KW_TO_FLOAT(a))); } \
  KW_FN KW_V NAME2(KW_V a) { return KW_OF_FLOATS(CALL(KW_TO_FLOAT(a.x)), CALL(KW_TO_FLOAT(a.y))); }
KW_THROUGH_FLOAT(hsqrt, h2sqrt, sqrtf)
KW_THROUGH_FLOAT(hrsqrt, h2rsqrt, rsqrtf)
KW_THROUGH_FLOAT(hrcp, h2rcp, kw_rcp)
KW_THROUGH_FLOAT(hexp, h2exp, __expf)
KW_THROUGH_FLOAT(hexp2, h2exp2, kw_ex2)
KW_THROUGH_FLOAT(hexp10, h2exp10, __exp10f)
KW_THROUGH_FLOAT(hlog, h2log, logf)
KW_THROUGH_FLOAT(hlog2, h2log2, log2f)
KW_THROUGH_FLOAT(hlog10, h2log10, log10f)
KW_THROUGH_FLOAT(hsin, h2sin, sinf)
KW_THROUGH_FLOAT(hcos, h2cos, cosf)
KW_THROUGH_FLOAT(htanh, h2tanh, tanhf)
KW_THROUGH_FLOAT(hfloor, h2floor, floorf)
KW_THROUGH_FLOAT(hceil, h2ceil, ceilf)
KW_THROUGH_FLOAT(htrunc, h2trunc, truncf)
KW_THROUGH_FLOAT(hrint, h2rint, rintf)
#undef KW_THROUGH_FLOAT

#define KW_COMPARE(NAME, EXPRESSION)                                                              \
  KW_FN bool __h##NAME(KW_S x, KW_S y) {                                                          \
    const float a = KW_TO_FLOAT(x), b = KW_TO_FLOAT(y);                                           \
    return EXPRESSION;                                                                            \
  }                                                                                               \
  KW_FN bool __hb##NAME##2(KW_V a, KW_V b) { return __h##NAME(a.x, b.x) && __h##NAME(a.y, b.y); } \
  KW_FN KW_V __h##NAME##2(KW_V a, KW_V b) {                                                       \
    return KW_OF_FLOATS(__h##NAME(a.x, b.x) ? 1.0f : 0.0f, __h##NAME(a.y, b.y) ? 1.0f : 0.0f);    \
  }                                                                                               \
  KW_FN unsigned __h##NAME##2_mask(KW_V a, KW_V b) {                                              \
    return (__h##NAME(a.x, b.x) ? 0xffffu : 0u) | (__h##NAME(a.y, b.y) ? 0xffff0000u : 0u);       \
  }
KW_COMPARE(eq, a == b)
KW_COMPARE(ne, a<b || a> b)
KW_COMPARE(lt, a < b)
KW_COMPARE(le, a <= b)
KW_COMPARE(gt, a > b)
KW_COMPARE(ge, a >= b)
KW_COMPARE(equ, !(a < b || a > b))
KW_COMPARE(neu, !(a == b))
KW_COMPARE(ltu, !(a >= b))
KW_COMPARE(leu, !(a > b))
KW_COMPARE(gtu, !(a <= b))
KW_COMPARE(geu, !(a < b))
#undef KW_COMPARE
KW_FN bool __hisnan(KW_S a) { return (a.__x & 0x7fff) > KW_INFINITY_BITS; }
KW_FN KW_V __hisnan2(KW_V a) {
  return KW_OF_FLOATS(__hisnan(a.x) ? 1.0f : 0.0f, __hisnan(a.y) ? 1.0f : 0.0f);
}
KW_FN int __hisinf(KW_S a) {
  return (a.__x & 0x7fff) != KW_INFINITY_BITS ? 0 : (a.__x & 0x8000) != 0 ? -1 : 1;
}

#define KW_OPERATOR(OP, CALL, CALL2)                                            \
  KW_FN KW_S operator OP(const KW_S& a, const KW_S& b) { return CALL(a, b); }   \
  KW_FN KW_V operator OP(const KW_V& a, const KW_V& b) { return CALL2(a, b); }  \
  KW_FN KW_S& operator OP##=(KW_S& a, const KW_S& b) { return a = CALL(a, b); } \
  KW_FN KW_V& operator OP##=(KW_V& a, const KW_V& b) { return a = CALL2(a, b); }
KW_OPERATOR(+, __hadd, __hadd2)
KW_OPERATOR(-, __hsub, __hsub2)
KW_OPERATOR(*, __hmul, __hmul2)
KW_OPERATOR(/, __hdiv, __h2div)
#undef KW_OPERATOR
#define KW_RELATION(OP, NAME)                                                      \
  KW_FN bool operator OP(const KW_S& a, const KW_S& b) { return __h##NAME(a, b); } \
  KW_FN bool operator OP(const KW_V& a, const KW_V& b) { return __hb##NAME##2(a, b); }
KW_RELATION(==, eq)
KW_RELATION(!=, neu)
KW_RELATION(<, lt)
KW_RELATION(<=, le)
KW_RELATION(>, gt)
KW_RELATION(>=, ge)
#undef KW_RELATION
KW_FN KW_S operator+(const KW_S& a) { return a; }
KW_FN KW_S operator-(const KW_S& a) { return kw_neg(a); }
KW_FN KW_V operator+(const KW_V& a) { return a; }
KW_FN KW_V operator-(const KW_V& a) { return kw_neg(a); }
KW_FN KW_S& operator++(KW_S& a) { return a = kw_add(a, KW_OF_FLOAT(1.0f)); }
KW_FN KW_S& operator--(KW_S& a) { return a = kw_sub(a, KW_OF_FLOAT(1.0f)); }

#define KW_SHUFFLE16(NAME, ARGUMENT)                                                             \
  KW_FN KW_V NAME(unsigned mask, KW_V value, ARGUMENT lane, int width = 32) {                    \
    return KW_OF_BITS2(NAME(mask, kw_bits(value), lane, width));                                 \
  }                                                                                              \
  KW_FN KW_S NAME(unsigned mask, KW_S value, ARGUMENT lane, int width = 32) {                    \
    return KW_OF_BITS(                                                                           \
        static_cast<unsigned short>(NAME(mask, static_cast<unsigned>(value.__x), lane, width))); \
  }
KW_SHUFFLE16(__shfl_sync, int)
KW_SHUFFLE16(__shfl_up_sync, unsigned)
KW_SHUFFLE16(__shfl_down_sync, unsigned)
KW_SHUFFLE16(__shfl_xor_sync, int)
#undef KW_SHUFFLE16

#define KW_LOAD16(NAME)                                                  \
  KW_FN KW_S NAME(const KW_S* p) {                                       \
    return KW_OF_BITS(NAME(reinterpret_cast<const unsigned short*>(p))); \
  }                                                                      \
  KW_FN KW_V NAME(const KW_V* p) { return KW_OF_BITS2(NAME(reinterpret_cast<const unsigned*>(p))); }
#define KW_STORE16(NAME)                                                                  \
  KW_FN void NAME(KW_S* p, KW_S v) { NAME(reinterpret_cast<unsigned short*>(p), v.__x); } \
  KW_FN void NAME(KW_V* p, KW_V v) { NAME(reinterpret_cast<unsigned*>(p), kw_bits(v)); }
KW_LOAD16(__ldg)
KW_LOAD16(__ldca)
KW_LOAD16(__ldcg)
KW_LOAD16(__ldcs)
KW_LOAD16(__ldlu)
KW_LOAD16(__ldcv)
KW_STORE16(__stwb)
KW_STORE16(__stcg)
KW_STORE16(__stcs)
KW_STORE16(__stwt)
#undef KW_LOAD16
#undef KW_STORE16
