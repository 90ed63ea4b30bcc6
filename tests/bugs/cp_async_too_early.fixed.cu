//! kernelwright 1
//! task    reverse
//! input   x: int32[R, 4, 64]
//! output  y: int32[R, 4, 64]
//! when    true
//! launch  reverse grid(R) block(64) args(x, y)
//? dims R=2

// Mended twin of: the next copy goes into a buffer that others may still be reading.
#define BARRIER __syncthreads()

__global__ void reverse(const int* x, int* y) {
  __shared__ int stage[64];
  int t = threadIdx.x;
  unsigned to = (unsigned)__cvta_generic_to_shared(&stage[t]);
#pragma unroll 1
  for (int i = blockIdx.x * 256; i < blockIdx.x * 256 + 256; i += 64) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(x + i + t) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    y[i + t] = stage[63 - t];
    BARRIER;
  }
}
