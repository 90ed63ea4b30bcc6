//! kernelwright 1
//! task    half_sums
//! input   x: int32[R, 48]
//! output  y: int32[R]
//! when    true
//! launch  half_sums grid(R) block(48) args(x, y)
//? dims R=2

// Mended twin of: the second warp has only 16 lanes, and the mask names 32.
__global__ void half_sums(const int* x, int* y) {
  __shared__ int sums[2];
  int v = x[blockIdx.x * 48 + threadIdx.x];
  unsigned mask = threadIdx.x < 32 ? 0xffffffffu : 0x0000ffffu;
  int first = threadIdx.x < 32 ? 16 : 8;
  for (int step = first; step > 0; step /= 2) {
    v += __shfl_down_sync(mask, v, step, 2 * first);
  }
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = sums[0] + sums[1];
}
