//! kernelwright 1
//! task    row_sum
//! input   x: int32[R, 64]
//! output  y: int32[R]
//! when    true
//! launch  row_sum grid(R) block(64) args(x, y)
//? dims R=3

// Mended twin of: the last warp adds in shared memory as if its lanes ran in lock step.
__global__ void row_sum(const int* x, int* y) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * 64 + t];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32];
    __syncwarp();
    for (int step = 16; step > 0; step /= 2) {
      int other = s[t + step];
      __syncwarp();
      if (t < step) s[t] += other;
      __syncwarp();
    }
    if (t == 0) y[blockIdx.x] = s[0];
  }
}
