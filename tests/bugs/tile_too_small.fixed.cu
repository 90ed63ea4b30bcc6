//! kernelwright 1
//! task    exchange
//! input   x: int32[R, 64]
//! output  y: int32[R, 64]
//! when    true
//! launch  exchange grid(R) block(64) args(x, y)
//? dims R=2

// Mended twin of: half the warp synchronises, but the partner is in the other half.
__global__ void exchange(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  unsigned tile = 0xffffffffu;
  s[t] = x[blockIdx.x * 64 + t];
  __syncwarp(tile);
  y[blockIdx.x * 64 + t] = s[t ^ 16];
}
