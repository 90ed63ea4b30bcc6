//! kernelwright 1
//! task    rank
//! input   x: int32[N]
//! output  y: int32[N]
//! scratch total: int32[1] = 0
//! when    true
//! launch  sum grid(2) block(32) args(x, total, y)
//! launch  last grid(2) block(32) args(total, y)
//? certain
//? dims N=64
//? also global-race-in-block

// Bug: the total is read while other blocks still add to it.
#define READ(total) total[0]

__global__ void sum(const int* x, int* total, int* y) {
  int i = blockIdx.x * 32 + threadIdx.x;
  atomicAdd(total, x[i]);
  y[i] = READ(total);  //~ global-race-between-blocks
}

__global__ void last(const int* total, int* y) { y[blockIdx.x * 32 + threadIdx.x] += total[0]; }
