//! kernelwright 1
//! task    twice
//! input   x: fp16[N]
//! output  y: fp16[N]
//! when    true
//! launch  twice grid(ceil_div(N, 128)) block(64) args(x, y, N)
//? dims N=201
//? also output-not-written

// Bug: the last pair of an odd number of halves reaches past the end.
#include <cuda_fp16.h>

__global__ void twice(const __half* x, __half* y, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (2 * i < n) {
    __half2 v = reinterpret_cast<const __half2*>(x)[i];  //~ out-of-bounds-global
    reinterpret_cast<__half2*>(y)[i] = __hadd2(v, v);  //~ out-of-bounds-global
  }
}
