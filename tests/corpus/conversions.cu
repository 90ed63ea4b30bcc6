//! kernelwright 1
//! task    conversions
//! input   x: fp32[N]
//! input   d: fp64[N]
//! input   k: int64[N]
//! output  whole: int32[6, N]
//! output  wide: int64[4, N]
//! output  f: fp32[5, N]
//! output  g: fp64[3, N]
//! output  h: fp16[4, N]
//! output  b: bf16[3, N]
//! when    true
//! launch  conversions grid(ceil_div(N, 64)) block(64) args(x, d, k, whole, wide, f, g, h, b, N)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

// Out-of-range values saturate, as the ISA defines; a NaN becomes 0.
__global__ void conversions(const float* x, const double* d, const long long* k, int* whole, long long* wide, float* f,
                            double* g, __half* h, __nv_bfloat16* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  double w = d[i];
  long long q = k[i];
  whole[0 * n + i] = __float2int_rn(v);
  whole[1 * n + i] = __float2int_rd(v);
  whole[2 * n + i] = (int)__float2uint_rz(v);
  whole[3 * n + i] = __double2int_ru(w);
  whole[4 * n + i] = (int)(signed char)q + ((int)(short)(q >> 8) << 8) + (int)(unsigned char)(q >> 24);
  whole[5 * n + i] = __half2int_rn(__float2half_rn(v));
  wide[0 * n + i] = __float2ll_rn(v);
  wide[1 * n + i] = __double2ll_rz(w);
  wide[2 * n + i] = (long long)__double2ull_ru(w);
  wide[3 * n + i] = __double_as_longlong(w) ^ (long long)__float_as_int(v);
  f[0 * n + i] = __ll2float_rn(q);
  f[1 * n + i] = __ll2float_ru(q);
  f[2 * n + i] = __double2float_rz(w);
  f[3 * n + i] = __uint2float_rd((unsigned)q);
  f[4 * n + i] = __double2float_rn(w);
  g[0 * n + i] = __ll2double_rd(q);
  g[1 * n + i] = __ull2double_rn((unsigned long long)q);
  g[2 * n + i] = (double)v;
  h[0 * n + i] = __float2half_rn(v);
  h[1 * n + i] = __float2half_rz(v);
  h[2 * n + i] = __double2half(w);
  h[3 * n + i] = __int2half_rn((int)q);
  b[0 * n + i] = __float2bfloat16_rn(v);
  b[1 * n + i] = __float2bfloat16_rz(v);
  b[2 * n + i] = __float2bfloat16_ru(v);
}
