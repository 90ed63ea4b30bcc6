//! kernelwright 1
//! task    fragment
//! input   x: fp16[8, 8]
//! output  y: int32[32]
//! when    true
//! launch  fragment grid(1) block(32) args(x, y)
//? dims

// Mended twin of: rows padded by one half are no longer at multiples of 16 bytes.
#include <cuda_fp16.h>

__global__ void fragment(const __half* x, int* y) {
  constexpr int kPitch = 16;
  __shared__ __align__(16) __half tile[8 * kPitch];
  int t = threadIdx.x;
  for (int i = t; i < 64; i += 32) tile[i / 8 * kPitch + i % 8] = x[i];
  __syncwarp();
  unsigned part, at = (unsigned)__cvta_generic_to_shared(tile + t % 8 * kPitch);
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(part) : "r"(at));
  y[t] = (int)part;
}
