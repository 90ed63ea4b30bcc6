//! kernelwright 1
//! task    twice
//! input   x: fp16[R, C]
//! output  y: fp16[R, C]
//! when    true
//! launch  twice grid(R) block(32) args(x, y, C)
//? dims R=3 C=63
//? also out-of-bounds-global output-not-written

// Bug: rows with an odd number of halves begin in the middle of a pair.
#include <cuda_fp16.h>

__global__ void twice(const __half* x, __half* y, int cols) {
  const __half* from = x + blockIdx.x * cols;
  __half* to = y + blockIdx.x * cols;
  for (int i = threadIdx.x; i < cols / 2; i += 32) {
    __half2 v = reinterpret_cast<const __half2*>(from)[i];  //~ misaligned
    reinterpret_cast<__half2*>(to)[i] = __hadd2(v, v);  //~ misaligned
  }
  if (threadIdx.x == 0 && cols % 2 != 0) to[cols - 1] = __hadd(from[cols - 1], from[cols - 1]);
}
