//! kernelwright 1
//! task    right_neighbour
//! input   x: int32[R, 32]
//! output  y: int32[R, 32]
//! when    true
//! launch  right_neighbour grid(R) block(32) args(x, y)
//? dims R=2

// Bug: lane 15 reads lane 16, which does not take part.
__global__ void right_neighbour(const int* x, int* y) {
  int t = threadIdx.x;
  int v = x[blockIdx.x * 32 + t], r = 0;
  if (t < 16) {
    r = __shfl_sync(0x0000ffffu, v, t + 1);  //~ inactive-lane-read
  }
  y[blockIdx.x * 32 + t] = r;
}
