//! kernelwright 1
//! task    row_sum
//! input   x: int32[R, 80]
//! output  y: int32[R]
//! when    true
//! launch  row_sum grid(R) block(80) args(x, y)
//? dims R=2

// Mended twin of: the last warp has 16 lanes and reduces over 32; what it makes up passes through shared memory.
__global__ void row_sum(const int* x, int* y) {
  __shared__ int sums[3];
  int t = threadIdx.x, v = x[blockIdx.x * 80 + t];
  unsigned mask = t < 64 ? 0xffffffffu : 0x0000ffffu;
  for (int step = t < 64 ? 16 : 8; step > 0; step /= 2) {
    v += __shfl_down_sync(mask, v, step);
  }
  if (t % 32 == 0) sums[t / 32] = v;
  __syncthreads();
  if (t < 3) {
    v = sums[t];
    v += __shfl_down_sync(7, v, 2);
    v += __shfl_down_sync(7, sums[t], 1);
    if (t == 0) y[blockIdx.x] = v;
  }
}
