//! kernelwright 1
//! task    copy
//! input   x: int32[R, 64]
//! output  y: int32[R, 64]
//! when    true
//! launch  copy grid(R) block(64) args(x, y)
//? dims R=2

// Mended twin of: the thread that reads waits, but not the thread that copies.
__global__ void copy(const int* x, int* y) {
  __shared__ int row[64];
  int t = threadIdx.x;
  unsigned to = (unsigned)__cvta_generic_to_shared(&row[t]);
  if (t < 32) {
    for (int i = t; i < 64; i += 32) {
      unsigned at = (unsigned)__cvta_generic_to_shared(&row[i]);
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(x + blockIdx.x * 64 + i) : "memory");
    }
  }
  if (t < 32) asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  y[blockIdx.x * 64 + t] = row[63 - t];
}
