//! kernelwright 1
//! task    half_math
//! input   x: fp16[N]
//! input   z: bf16[N]
//! output  h: fp16[8, N]
//! output  b: bf16[4, N]
//! when    N % 2 == 0
//! launch  half_math grid(ceil_div(N / 2, 64)) block(64) args(x, z, h, b, N / 2)
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void half_math(const __half* x, const __nv_bfloat16* z, __half* h, __nv_bfloat16* b, int pairs) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  __half2 v = reinterpret_cast<const __half2*>(x)[i];
  __half2 p = __hadd2(__habs2(v), __floats2half2_rn(0.25f, 0.25f));
  __half2* out = reinterpret_cast<__half2*>(h);
  out[0 * pairs + i] = h2exp(v);
  out[1 * pairs + i] = h2log(p);
  out[2 * pairs + i] = h2sqrt(p);
  out[3 * pairs + i] = h2rcp(p);
  out[4 * pairs + i] = h2sin(v);
  out[5 * pairs + i] = h2cos(v);
  out[6 * pairs + i] = h2rsqrt(p);
  out[7 * pairs + i] = __hmax2(h2floor(v), h2rint(__hneg2(v)));
  __nv_bfloat162 w = reinterpret_cast<const __nv_bfloat162*>(z)[i];
  __nv_bfloat162 q = __hadd2(__habs2(w), __floats2bfloat162_rn(0.25f, 0.25f));
  __nv_bfloat162* wide = reinterpret_cast<__nv_bfloat162*>(b);
  wide[0 * pairs + i] = h2exp(w);
  wide[1 * pairs + i] = h2log2(q);
  wide[2 * pairs + i] = h2sqrt(q);
  wide[3 * pairs + i] = __hmul2_rn(w, __hmin2(w, q));
}
