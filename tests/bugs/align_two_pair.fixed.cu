//! kernelwright 1
//! task    copy
//! input   x: fp16[N] align 2
//! output  y: fp16[N]
//! when    N % 2 == 0
//! launch  copy grid(ceil_div(N, 64)) block(32) args(x, y, N)
//? dims N=128
//? misalign 2

// Mended twin of: the tensor is declared with an alignment of 2 bytes, and read by __half2.
#include <cuda_fp16.h>

__global__ void copy(const __half* x, __half* y, int n) {
  int i = 2 * (blockIdx.x * 32 + threadIdx.x);
  if (i >= n) return;
  y[i] = x[i], y[i + 1] = x[i + 1];
}
