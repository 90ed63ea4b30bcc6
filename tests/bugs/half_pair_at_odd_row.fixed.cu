//! kernelwright 1
//! task    twice
//! input   x: fp16[R, C]
//! output  y: fp16[R, C]
//! when    true
//! launch  twice grid(R) block(32) args(x, y, C)
//? dims R=3 C=63

// Mended twin of: rows with an odd number of halves begin in the middle of a pair.
#include <cuda_fp16.h>

__global__ void twice(const __half* x, __half* y, int cols) {
  const __half* from = x + blockIdx.x * cols;
  __half* to = y + blockIdx.x * cols;
  for (int i = threadIdx.x; i < cols; i += 32) to[i] = __hadd(from[i], from[i]);
}
