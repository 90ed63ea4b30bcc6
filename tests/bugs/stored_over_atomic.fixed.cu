//! kernelwright 1
//! task    count
//! input   x: int32[N]
//! output  y: int32[1]
//! scratch total: int32[1] = 0
//! when    true
//! launch  count grid(2) block(32) args(x, total)
//! launch  copy grid(1) block(1) args(total, y)
//? certain
//? dims N=64

// Mended twin of: block 0 sets the total back while the other one may already have added to it.
#define START(total) atomicAdd(total, 0)

__global__ void count(const int* x, int* total) {
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i == 0) START(total);
  __syncwarp();
  atomicAdd(total, x[i]);
}

__global__ void copy(const int* total, int* y) { y[0] = total[0]; }
