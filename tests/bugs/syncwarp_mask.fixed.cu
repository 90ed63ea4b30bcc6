//! kernelwright 1
//! task    half_exchange
//! input   x: int32[R, 32]
//! output  y: int32[R, 32]
//! when    true
//! launch  half_exchange grid(R) block(32) args(x, y)
//? dims R=2

// Mended twin of: half the warp has left, and the other half waits for all of it.
__global__ void half_exchange(const int* x, int* y) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 32 + t];
  y[blockIdx.x * 32 + t] = s[t];
  unsigned mask = 0x0000ffffu;
  if (t >= 16) return;
  __syncwarp(mask);
  y[blockIdx.x * 32 + t] = s[15 - t];
}
