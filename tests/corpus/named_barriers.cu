//! kernelwright 1
//! task    two_roles
//! input   x: int32[R, C]
//! output  y: int32[R]
//! when    true
//! launch  two_roles grid(R) block(64) args(x, y, C)

// The first warp fetches, the second sums. Barrier 1 + s says stage s is full, 3 + s that it is free again.
__device__ void meet(int id) { asm volatile("barrier.sync %0, 64;" ::"r"(id) : "memory"); }
__device__ void arrive(int id) { asm volatile("barrier.arrive %0, 64;" ::"r"(id) : "memory"); }

__global__ void two_roles(const int* x, int* y, int cols) {
  __shared__ int stage[2][32];
  int lane = threadIdx.x % 32;
  int tiles = (cols + 31) / 32;
  if (threadIdx.x < 32) {
    for (int i = 0; i < tiles; ++i) {
      int s = i % 2;
      if (i >= 2) meet(3 + s);
      int c = i * 32 + lane;
      stage[s][lane] = c < cols ? x[(size_t)blockIdx.x * cols + c] : 0;
      arrive(1 + s);
    }
  } else {
    unsigned sum = 0;
    for (int i = 0; i < tiles; ++i) {
      int s = i % 2;
      meet(1 + s);
      sum = sum * 3u + (unsigned)stage[s][31 - lane];
      if (i + 2 < tiles) arrive(3 + s);
    }
    sum = __reduce_add_sync(0xffffffffu, sum);
    if (lane == 0) y[blockIdx.x] = (int)sum;
  }
}
