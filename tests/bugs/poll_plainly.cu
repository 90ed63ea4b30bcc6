//! kernelwright 1
//! task    reverse
//! input   x: int32[N]
//! output  y: int32[N]
//! scratch kept: int32[N]
//! scratch ready: uint32[1] = 0
//! when    true
//! launch  reverse grid(2) block(64) args(x, kept, ready, y)
//? certain
//? also global-race-between-blocks
//? dims N=64

// Bug: the flag is set atomically but polled by a plain load, which the compiler may hoist.
#define READ(flag) __ldca(flag)

__global__ void reverse(const int* x, int* kept, unsigned* ready, int* y) {
  int i = threadIdx.x;
  if (blockIdx.x == 0) {
    kept[i] = x[i];
    __threadfence();
    __syncthreads();
    if (i == 0) atomicExch(ready, 1u);  //~ global-race-between-blocks
    return;
  }
  if (i == 0) {
    while (READ(ready) == 0) {  //~ global-race-between-blocks
    }
    __threadfence();
  }
  __syncthreads();
  y[i] = kept[63 - i];
}
