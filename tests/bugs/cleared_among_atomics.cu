//! kernelwright 1
//! task    count
//! input   x: int32[N]
//! output  y: int32[1]
//! when    true
//! launch  count grid(1) block(64) args(x, y)
//? certain
//? dims N=64

// Bug: other warps may count before thread 0 has cleared the counter.
#define MEET

__global__ void count(const int* x, int* y) {
  int i = threadIdx.x;
  if (i == 0) y[0] = 0;  //~ global-race-in-block
  MEET;
  atomicAdd(y, x[i]);  //~ global-race-in-block
}
