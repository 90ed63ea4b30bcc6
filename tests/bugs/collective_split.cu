//! kernelwright 1
//! task    two_halves
//! input   x: int32[R, 32]
//! output  y: int32[R, 32]
//! when    true
//! launch  two_halves grid(R) block(32) args(x, y)
//? dims R=2
//? also bad-collective-mask output-not-written

// Bug: each half of the warp calls a different collective, and both name the whole warp.
__global__ void two_halves(const int* x, int* y) {
  int t = threadIdx.x;
  int v = x[blockIdx.x * 32 + t], r;
  unsigned low = 0xffffffffu, high = 0xffffffffu;
  if (t < 16) {
    r = __shfl_xor_sync(low, v, 1);  //~ collective-deadlock
  } else {
    r = (int)__ballot_sync(high, v > 0);  //~ collective-deadlock
  }
  y[blockIdx.x * 32 + t] = r;
}
