//! kernelwright 1
//! task    swap
//! input   x: int32[N]
//! output  y: int32[N]
//! when    N % 128 == 0
//! launch  swap grid(N / 128) block(128) args(x, y)
//? dims N=128

// Mended twin of: two pairs of warps use one named barrier: it counts threads of either pair.
__global__ void swap(const int* x, int* y) {
  __shared__ int tile[128];
  int t = threadIdx.x, pair = t / 64;
  tile[t] = x[blockIdx.x * 128 + t];
  asm volatile("bar.sync %0, 64;" ::"r"(1 + pair) : "memory");
  y[blockIdx.x * 128 + t] = tile[t ^ 32];
}
