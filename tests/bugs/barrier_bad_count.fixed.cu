//! kernelwright 1
//! task    pair_sums
//! input   x: int32[R, 64]
//! output  y: int32[R, 64]
//! when    true
//! launch  pair_sums grid(R) block(64) args(x, y)
//? dims R=2

// Mended twin of: a named barrier counts threads in warps of 32, and 48 is not a whole number of them.
constexpr int kThreads = 64;

__global__ void pair_sums(const int* x, int* y) {
  __shared__ int row[64];
  int t = threadIdx.x;
  row[t] = x[blockIdx.x * 64 + t];
  asm volatile("barrier.sync 1, %0;" ::"r"(kThreads) : "memory");
  y[blockIdx.x * 64 + t] = row[t] + row[63 - t];
}
