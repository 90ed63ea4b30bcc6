// Float, integer, conversion and packed intrinsics.

__global__ void floats(const float* x, float* y) {
  const float a = x[threadIdx.x], b = x[threadIdx.x + 1];
  int i = 0;
  y[i++] = __fadd_rn(a, b) + __fsub_rn(a, b) + __fmul_rn(a, b) + __fdiv_rn(a, b);
  y[i++] = __fmaf_rn(a, b, a) + __frcp_rn(a) + __fsqrt_rn(a);
  y[i++] = __int2float_rn(i) + __uint2float_rn(i) + __ll2float_rn(i) + __ull2float_rn(i);
  y[i++] = static_cast<float>(__float2int_rn(a) + __float2uint_rn(a) + __float2ll_rn(a) +
                              __float2ull_rn(a));
  y[i++] = __fadd_rz(a, b) + __fsub_rz(a, b) + __fmul_rz(a, b) + __fdiv_rz(a, b);
  y[i++] = __fmaf_rz(a, b, a) + __frcp_rz(a) + __fsqrt_rz(a);
  y[i++] = __int2float_rz(i) + __uint2float_rz(i) + __ll2float_rz(i) + __ull2float_rz(i);
  y[i++] = static_cast<float>(__float2int_rz(a) + __float2uint_rz(a) + __float2ll_rz(a) +
                              __float2ull_rz(a));
  y[i++] = __fadd_ru(a, b) + __fsub_ru(a, b) + __fmul_ru(a, b) + __fdiv_ru(a, b);
  y[i++] = __fmaf_ru(a, b, a) + __frcp_ru(a) + __fsqrt_ru(a);
  y[i++] = __int2float_ru(i) + __uint2float_ru(i) + __ll2float_ru(i) + __ull2float_ru(i);
  y[i++] = static_cast<float>(__float2int_ru(a) + __float2uint_ru(a) + __float2ll_ru(a) +
                              __float2ull_ru(a));
  y[i++] = __fadd_rd(a, b) + __fsub_rd(a, b) + __fmul_rd(a, b) + __fdiv_rd(a, b);
  y[i++] = __fmaf_rd(a, b, a) + __frcp_rd(a) + __fsqrt_rd(a);
  y[i++] = __int2float_rd(i) + __uint2float_rd(i) + __ll2float_rd(i) + __ull2float_rd(i);
  y[i++] = static_cast<float>(__float2int_rd(a) + __float2uint_rd(a) + __float2ll_rd(a) +
                              __float2ull_rd(a));
  y[i++] = __frsqrt_rn(a);
  y[i++] = __expf(a) + __exp10f(a) + __logf(a) + __log2f(a) + __log10f(a);
  y[i++] = __sinf(a) + __cosf(a) + __tanf(a) + __tanhf(a) + __powf(a, b);
  y[i++] = __fdividef(a, b) + __saturatef(a);
  y[i++] = __int_as_float(__float_as_int(a)) + __uint_as_float(__float_as_uint(b));
}

__global__ void doubles(const double* x, double* y) {
  const double a = x[threadIdx.x], b = x[threadIdx.x + 1];
  int i = 0;
  y[i++] = __dadd_rn(a, b) + __dsub_rn(a, b) + __dmul_rn(a, b) + __ddiv_rn(a, b);
  y[i++] = __fma_rn(a, b, a) + __drcp_rn(a) + __dsqrt_rn(a);
  y[i++] = __ll2double_rn(i) + __ull2double_rn(i) + __double2float_rn(a);
  y[i++] = static_cast<double>(__double2int_rn(a) + __double2uint_rn(a) + __double2ll_rn(a) +
                               __double2ull_rn(a));
  y[i++] = __dadd_rz(a, b) + __dsub_rz(a, b) + __dmul_rz(a, b) + __ddiv_rz(a, b);
  y[i++] = __fma_rz(a, b, a) + __drcp_rz(a) + __dsqrt_rz(a);
  y[i++] = __ll2double_rz(i) + __ull2double_rz(i) + __double2float_rz(a);
  y[i++] = static_cast<double>(__double2int_rz(a) + __double2uint_rz(a) + __double2ll_rz(a) +
                               __double2ull_rz(a));
  y[i++] = __dadd_ru(a, b) + __dsub_ru(a, b) + __dmul_ru(a, b) + __ddiv_ru(a, b);
  y[i++] = __fma_ru(a, b, a) + __drcp_ru(a) + __dsqrt_ru(a);
  y[i++] = __ll2double_ru(i) + __ull2double_ru(i) + __double2float_ru(a);
  y[i++] = static_cast<double>(__double2int_ru(a) + __double2uint_ru(a) + __double2ll_ru(a) +
                               __double2ull_ru(a));
  y[i++] = __dadd_rd(a, b) + __dsub_rd(a, b) + __dmul_rd(a, b) + __ddiv_rd(a, b);
  y[i++] = __fma_rd(a, b, a) + __drcp_rd(a) + __dsqrt_rd(a);
  y[i++] = __ll2double_rd(i) + __ull2double_rd(i) + __double2float_rd(a);
  y[i++] = static_cast<double>(__double2int_rd(a) + __double2uint_rd(a) + __double2ll_rd(a) +
                               __double2ull_rd(a));
  y[i++] = __int2double_rn(i) + __uint2double_rn(i);
  y[i++] = __hiloint2double(__double2hiint(a), __double2loint(b));
  y[i++] = __longlong_as_double(__double_as_longlong(a));
}

__global__ void integers(const int* x, int* y) {
  const int a = x[threadIdx.x], b = x[threadIdx.x + 1];
  int i = 0;
  y[i++] =
      static_cast<int>(__popc(a) + __popcll(a) + __clz(a) + __clzll(a) + __ffs(a) + __ffsll(a));
  y[i++] = static_cast<int>(__brev(a) + __brevll(a));
  y[i++] = static_cast<int>(__byte_perm(a, b, 0x3210) + __fns(a, b, 1));
  y[i++] = static_cast<int>(__funnelshift_l(a, b, 3) + __funnelshift_lc(a, b, 33) +
                            __funnelshift_r(a, b, 3) + __funnelshift_rc(a, b, 40));
  y[i++] = static_cast<int>(__mulhi(a, b) + __umulhi(a, b) + __mul64hi(a, b) + __umul64hi(a, b) +
                            __mul24(a, b) + __umul24(a, b));
  y[i++] = static_cast<int>(__sad(a, b, 1) + __usad(a, b, 1) + __hadd(a, b) + __rhadd(a, b) +
                            __uhadd(a, b) + __urhadd(a, b));
  y[i++] = static_cast<int>(__dp4a(a, b, 1) + __dp4a(1u, 2u, 3u) +
                            __dp4a(make_char4(1, 2, 3, 4), make_char4(1, 1, 1, 1), a));
  y[i++] = static_cast<int>(__dp2a_lo(a, b, 1) + __dp2a_hi(a, b, 1));
  y[i++] = static_cast<int>(__vadd2(a, b));
  y[i++] = static_cast<int>(__vsub2(a, b));
  y[i++] = static_cast<int>(__vaddss2(a, b));
  y[i++] = static_cast<int>(__vaddus2(a, b));
  y[i++] = static_cast<int>(__vsubss2(a, b));
  y[i++] = static_cast<int>(__vsubus2(a, b));
  y[i++] = static_cast<int>(__vmaxs2(a, b));
  y[i++] = static_cast<int>(__vmaxu2(a, b));
  y[i++] = static_cast<int>(__vmins2(a, b));
  y[i++] = static_cast<int>(__vminu2(a, b));
  y[i++] = static_cast<int>(__vabsdiffs2(a, b));
  y[i++] = static_cast<int>(__vabsdiffu2(a, b));
  y[i++] = static_cast<int>(__vavgs2(a, b));
  y[i++] = static_cast<int>(__vavgu2(a, b));
  y[i++] = static_cast<int>(__vcmpeq2(a, b));
  y[i++] = static_cast<int>(__vcmpne2(a, b));
  y[i++] = static_cast<int>(__vcmpgtu2(a, b));
  y[i++] = static_cast<int>(__vcmpges2(a, b));
  y[i++] = static_cast<int>(__vseteq2(a, b));
  y[i++] = static_cast<int>(__vsetltu2(a, b));
  y[i++] = static_cast<int>(__vsadu2(a, b));
  y[i++] = static_cast<int>(__vsads2(a, b));
  y[i++] = static_cast<int>(__vabs2(a) + __vneg2(a) + __vabsss2(a));
  y[i++] = static_cast<int>(__vadd4(a, b));
  y[i++] = static_cast<int>(__vsub4(a, b));
  y[i++] = static_cast<int>(__vaddss4(a, b));
  y[i++] = static_cast<int>(__vaddus4(a, b));
  y[i++] = static_cast<int>(__vsubss4(a, b));
  y[i++] = static_cast<int>(__vsubus4(a, b));
  y[i++] = static_cast<int>(__vmaxs4(a, b));
  y[i++] = static_cast<int>(__vmaxu4(a, b));
  y[i++] = static_cast<int>(__vmins4(a, b));
  y[i++] = static_cast<int>(__vminu4(a, b));
  y[i++] = static_cast<int>(__vabsdiffs4(a, b));
  y[i++] = static_cast<int>(__vabsdiffu4(a, b));
  y[i++] = static_cast<int>(__vavgs4(a, b));
  y[i++] = static_cast<int>(__vavgu4(a, b));
  y[i++] = static_cast<int>(__vcmpeq4(a, b));
  y[i++] = static_cast<int>(__vcmpne4(a, b));
  y[i++] = static_cast<int>(__vcmpgtu4(a, b));
  y[i++] = static_cast<int>(__vcmpges4(a, b));
  y[i++] = static_cast<int>(__vseteq4(a, b));
  y[i++] = static_cast<int>(__vsetltu4(a, b));
  y[i++] = static_cast<int>(__vsadu4(a, b));
  y[i++] = static_cast<int>(__vsads4(a, b));
  y[i++] = static_cast<int>(__vabs4(a) + __vneg4(a) + __vabsss4(a));
}
