//! kernelwright 1
//! task    two_halves
//! input   x: int32[R, 32]
//! output  y: int32[R, 32]
//! when    true
//! launch  two_halves grid(R) block(32) args(x, y)
//? dims R=2

// Mended twin of: each half of the warp calls a different collective, and both name the whole warp.
__global__ void two_halves(const int* x, int* y) {
  int t = threadIdx.x;
  int v = x[blockIdx.x * 32 + t], r;
  unsigned low = 0x0000ffffu, high = 0xffff0000u;
  if (t < 16) {
    r = __shfl_xor_sync(low, v, 1);
  } else {
    r = (int)__ballot_sync(high, v > 0);
  }
  y[blockIdx.x * 32 + t] = r;
}
