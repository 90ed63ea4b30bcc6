//! kernelwright 1
//! task    twice
//! input   x: fp16[N]
//! output  y: fp16[N]
//! when    true
//! launch  twice grid(ceil_div(N, 128)) block(64) args(x, y, N)
//? dims N=201

// Mended twin of: the last pair of an odd number of halves reaches past the end.
#include <cuda_fp16.h>

__global__ void twice(const __half* x, __half* y, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (2 * i + 1 < n) {
    __half2 v = reinterpret_cast<const __half2*>(x)[i];
    reinterpret_cast<__half2*>(y)[i] = __hadd2(v, v);
  }
  if (2 * i + 1 == n) y[2 * i] = __hadd(x[2 * i], x[2 * i]);
}
