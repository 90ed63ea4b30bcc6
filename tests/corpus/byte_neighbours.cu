//! kernelwright 1
//! task    byte_neighbours
//! input   x: uint8[N]
//! output  y: uint8[N]
//! output  h: fp16[N]
//! output  big: bool[N]
//! when    true
//! launch  byte_neighbours grid(ceil_div(N, 33)) block(33) args(x, y, h, big, N)
#include <cuda_fp16.h>

// Threads, warps and blocks write neighbouring bytes of one word: no two touch the same byte.
__global__ void byte_neighbours(const unsigned char* x, unsigned char* y, __half* h, bool* big, int n) {
  __shared__ unsigned char tile[35];
  __shared__ unsigned short twice[33];
  int t = threadIdx.x, i = blockIdx.x * 33 + t;
  tile[t + 1] = i < n ? x[i] : 0;
  if (t == 0) tile[0] = i > 0 ? x[i - 1] : 0;
  if (t == 32) tile[34] = i + 1 < n ? x[i + 1] : 0;
  twice[t] = (unsigned short)(2 * (i < n ? x[i] : 0));
  __syncthreads();
  if (i >= n) return;
  y[i] = (unsigned char)((tile[t] + 2 * tile[t + 1] + tile[t + 2] + 2) / 4);
  h[i] = __float2half_rn((float)twice[32 - t]);
  big[i] = twice[t] > 200;
}
