//! kernelwright 1
//! task    half_arith
//! input   a: fp16[N]
//! input   b: fp16[N]
//! output  y: fp16[6, N]
//! output  less: bool[N]
//! when    true
//! launch  half_arith grid(ceil_div(N, 96)) block(96) args(a, b, y, less, N)
#include <cuda_fp16.h>

// Every operation here is rounded once, so the result is defined bit for bit.
__global__ void half_arith(const __half* a, const __half* b, __half* y, bool* less, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half u = a[i], v = b[i];
  y[0 * n + i] = __hadd_rn(u, v);
  y[1 * n + i] = __hsub_rn(u, v);
  y[2 * n + i] = __hmul_rn(u, v);
  y[3 * n + i] = __hfma(u, v, u);
  y[4 * n + i] = __hmax(__hneg(u), __habs(v));
  y[5 * n + i] = __hadd_sat(u, v);
  less[i] = __hlt(u, v);
}
