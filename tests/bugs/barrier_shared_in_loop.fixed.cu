//! kernelwright 1
//! task    swap
//! input   x: int32[N]
//! output  y: int32[N]
//! when    N % 128 == 0
//! launch  swap grid(N / 128) block(128) args(x, y)
//? dims N=128

// Mended twin of: two pairs of warps share one named barrier round after round.
__global__ void swap(const int* x, int* y) {
  __shared__ int tile[128];
  int t = threadIdx.x, id = 1 + t / 64;
  int value = x[blockIdx.x * 128 + t];
  for (int round = 0; round < 4; ++round) {
    tile[t] = value;
    asm volatile("bar.sync %0, 64;" ::"r"(id) : "memory");
    value = tile[t ^ 32] + 1;
    asm volatile("bar.sync %0, 64;" ::"r"(id) : "memory");
  }
  y[blockIdx.x * 128 + t] = value;
}
