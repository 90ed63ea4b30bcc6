//! kernelwright 1
//! task    bf16_fma
//! input   a: bf16[N]
//! input   b: bf16[N]
//! input   c: bf16[N]
//! output  y: bf16[N]
//! when    N % 2 == 0
//! launch  fma_pairs grid(ceil_div(N / 2, 64)) block(64) args(a, b, c, y, N / 2)
//! when    true
//! launch  fma_single grid(ceil_div(N, 64)) block(64) args(a, b, c, y, N)
#include <cuda_bf16.h>

__global__ void fma_pairs(const __nv_bfloat16* a, const __nv_bfloat16* b, const __nv_bfloat16* c, __nv_bfloat16* y,
                          int pairs) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  __nv_bfloat162 u = reinterpret_cast<const __nv_bfloat162*>(a)[i];
  __nv_bfloat162 v = reinterpret_cast<const __nv_bfloat162*>(b)[i];
  __nv_bfloat162 w = reinterpret_cast<const __nv_bfloat162*>(c)[i];
  reinterpret_cast<__nv_bfloat162*>(y)[i] = __hfma2(u, v, w);
}

__global__ void fma_single(const __nv_bfloat16* a, const __nv_bfloat16* b, const __nv_bfloat16* c, __nv_bfloat16* y,
                           int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hfma(a[i], b[i], c[i]);
}
