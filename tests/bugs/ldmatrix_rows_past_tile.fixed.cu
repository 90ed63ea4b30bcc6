//! kernelwright 1
//! task    pairs
//! input   x: fp16[8, 16]
//! output  y: int32[64]
//! when    true
//! launch  pairs grid(1) block(32) args(x, y)
//? dims

// Mended twin of: the lanes name 16 rows, as for a tile of 16 x 16, but the tile has 8.
#include <cuda_fp16.h>

__global__ void pairs(const __half* x, int* y) {
  __shared__ __align__(16) __half tile[8][16];
  int t = threadIdx.x;
  for (int i = t; i < 128; i += 32) tile[i / 16][i % 16] = x[i];
  __syncwarp();
  unsigned low, high;
  const __half* row = &tile[0][0] + (t % 8) * 16 + (t / 8 % 2) * 8;
  unsigned at = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(low), "=r"(high) : "r"(at));
  y[t] = (int)low;
  y[t + 32] = (int)high;
}
