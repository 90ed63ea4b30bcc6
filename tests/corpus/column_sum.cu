//! kernelwright 1
//! task    column_sum
//! input   x: fp16[R, C]
//! output  y: fp32[C]
//! when    true
//! launch  column_sum grid(ceil_div(C, 32)) block(32, 16) args(x, y, R, C)
#include <cuda_fp16.h>

__global__ void column_sum(const __half* x, float* y, int rows, int cols) {
  __shared__ float sums[16][33];
  int c = blockIdx.x * 32 + threadIdx.x;
  float sum = 0.0f;
  if (c < cols) {
    for (int r = threadIdx.y; r < rows; r += 16) sum += __half2float(x[(size_t)r * cols + c]);
  }
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  for (int step = 8; step > 0; step /= 2) {
    if (threadIdx.y < step) sums[threadIdx.y][threadIdx.x] += sums[threadIdx.y + step][threadIdx.x];
    __syncthreads();
  }
  if (threadIdx.y == 0 && c < cols) y[c] = sums[0][threadIdx.x];
}
