//! kernelwright 1
//! task    next
//! input   x: int32[N]
//! output  y: int32[N]
//! scratch w: int32[N]
//! when    N % 32 == 0
//! launch  next grid(N / 32) block(32) args(x, w, y)
//? dims N=64
//? certain

// Bug: lanes hand values over through global memory with a shuffle in between.
__global__ void next(const int* x, int* w, int* y) {
  int t = threadIdx.x, i = blockIdx.x * 32 + t, v = x[i];
  w[i] = v;  //~ global-race-in-block
  int last = __shfl_sync(0xffffffffu, v, 31);
  y[i] = t < 31 ? w[i + 1] : last;  //~ global-race-in-block
}
