//! kernelwright 1
//! task    reverse
//! input   x: int32[N]
//! output  y: int32[N]
//! scratch kept: int32[N]
//! scratch ready: uint32[1] = 0
//! when    true
//! launch  reverse grid(2) block(32) args(x, kept, ready, y)
//? certain
//? dims N=32

// Bug: lane 0 awaits the flag, and nothing orders the other lanes after it.
#define MEET

__global__ void reverse(const int* x, int* kept, unsigned* ready, int* y) {
  int i = threadIdx.x;
  if (blockIdx.x == 0) {
    kept[i] = x[i];  //~ global-race-between-blocks
    __syncwarp();
    if (i == 0) {
      __threadfence();
      atomicExch(ready, 1u);
    }
    return;
  }
  if (i == 0) {
    while (atomicAdd(ready, 0u) == 0) {
    }
    __threadfence();
  }
  MEET;
  y[i] = kept[31 - i];  //~ global-race-between-blocks
}
