//! kernelwright 1
//! task    turn_twice
//! input   x: int32[N]
//! output  y: int32[N]
//! scratch kept: int32[N]
//! scratch arrived: uint32[1] = 0
//! when    true
//! launch  turn_twice grid(8) block(64) args(x, kept, arrived, y, N)
//? order
//? certain
//? dims N=512
//? also order-dependence global-race-in-block

// Bug: no barrier between reading the others' values and writing new ones.
#define ALL_READ

__device__ void grid_barrier(unsigned* arrived, unsigned goal) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (*(volatile unsigned*)arrived < goal) {
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void turn_twice(const int* x, int* kept, unsigned* arrived, int* y, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  kept[i] = x[i];
  grid_barrier(arrived, 8);
  int other = kept[n - 1 - i];  //~ global-race-between-blocks
  ALL_READ;
  kept[i] = other * 2;  //~ global-race-between-blocks
  grid_barrier(arrived, 16);
  y[i] = kept[n - 1 - i];
}
