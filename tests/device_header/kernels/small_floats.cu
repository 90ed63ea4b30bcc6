// __half and __nv_bfloat16: conversions, arithmetic, comparisons, functions, atomics, shuffles.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename S, typename V>
__device__ V arithmetic(S s, S t, V v, V w, S* out) {
  s = __hadd(s, t) + __hsub(s, t) * __hmul(s, t) / __hdiv(s, t);
  s += __hfma(s, t, s);
  s -= __hneg(t);
  s *= __habs(t);
  s /= __hmax(s, __hmin(t, s));
  s = -s + __hadd_sat(s, t) + __hfma_sat(s, t, s) + __hfma_relu(s, t, s) + __hmax_nan(s, t) +
      __hmin_nan(s, t);
  v = __hadd2(v, w) + __hsub2(v, w) * __hmul2(v, w) / __h2div(v, w);
  v = __hfma2(v, w, __hmax2(v, __hmin2(w, v))) - __hneg2(__habs2(v));
  v += __hfma2_relu(v, w, v) + __hadd2_sat(v, w) + __hmul2_sat(v, w) + __hsub2_sat(v, w);
  out[0] = hexp(s) + hexp2(s) + hexp10(s) + hlog(s) + hlog2(s) + hlog10(s) + hsqrt(s) + hrsqrt(s) +
           hrcp(s);
  out[1] = hsin(s) + hcos(s) + htanh(s) + hfloor(s) + hceil(s) + hrint(s) + htrunc(s);
  v += h2exp(v) + h2log(v) + h2sqrt(v) + h2rsqrt(v) + h2rcp(v) + h2tanh(v) + h2floor(v) + h2sin(v) +
       h2cos(v);
  const bool less =
      __hlt(s, t) || s <= t || s == t || s != t || __hgtu(s, t) || __hisnan(s) || __hisinf(t);
  const bool both = __hbeq2(v, w) || v < w || __hbgt2(v, w);
  if (less && both) v = __heq2(v, w) + __hgt2(v, w) + __hisnan2(v);
  out[2] = __shfl_xor_sync(~0u, s, 1) + __shfl_down_sync(~0u, t, 2u);
  v += __shfl_sync(~0u, v, 3);
  out[3] = __ldg(out) + __ldcs(out + 1);
  __stcs(out + 4, s);
  return v;
}
__global__ void half_precision(__half* x, __half2* y, float* f, int* n) {
  y[0] = arithmetic(x[0], x[1], y[1], y[2], x + 2);
  x[0] = __float2half(f[0]) + __float2half_rz(f[1]) + __int2half_rn(n[0]) + __double2half(2.0) +
         __half(1.5f);
  y[1] = __floats2half2_rn(f[2], f[3]) + __float22half2_rn(make_float2(1, 2)) + __half2half2(x[1]);
  y[2] = __halves2half2(__low2half(y[1]), __high2half(y[2])) + __lows2half2(y[0], y[1]) +
         __lowhigh2highlow(y[0]);
  const float2 two = __half22float2(y[1]);
  f[4] = two.x + two.y + __half2float(x[3]) + __low2float(y[0]) + __high2float(y[0]) +
         static_cast<float>(x[4]);
  n[1] = __half2int_rn(x[0]) + __half2int_rz(x[1]) + __half2uint_rd(x[2]) + __half_as_ushort(x[3]);
  x[5] = __ushort_as_half(0x3c00);
  x[6] = 2.5f;
  atomicAdd(x, x[7]);
  atomicAdd(y, y[3]);
  x[8] = htanh_approx(x[8]);
}
__global__ void brain_floats(__nv_bfloat16* x, __nv_bfloat162* y, float* f, int* n) {
  y[0] = arithmetic(x[0], x[1], y[1], y[2], x + 2);
  x[0] = __float2bfloat16(f[0]) + __float2bfloat16_rz(f[1]) + __int2bfloat16_rn(n[0]) +
         __nv_bfloat16(1.5f);
  y[1] = __floats2bfloat162_rn(f[2], f[3]) + __float22bfloat162_rn(make_float2(1, 2)) +
         __bfloat162bfloat162(x[1]);
  y[2] = __halves2bfloat162(__low2bfloat16(y[1]), __high2bfloat16(y[2]));
  const float2 two = __bfloat1622float2(y[1]);
  f[4] = two.x + two.y + __bfloat162float(x[3]) + __low2float(y[0]) + static_cast<float>(x[4]);
  n[1] = __bfloat162int_rn(x[0]) + __bfloat162int_rz(x[1]) + __bfloat16_as_ushort(x[3]);
  atomicAdd(x, x[7]);
  atomicAdd(y, y[3]);
}
