//! kernelwright 1
//! task    row_sum
//! input   x: fp32[R, C]
//! output  y: fp32[R]
//! tune    WARPS in 4, 1
//! when    true
//! launch  row_sum<WARPS> grid(ceil_div(R, WARPS)) block(32, WARPS) args(x, y, R, C)

template <int kWarps>
__global__ void row_sum(const float* x, float* y, int rows, int cols) {
  int row = blockIdx.x * kWarps + threadIdx.y;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += x[(size_t)row * cols + c];
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[row] = sum;
}
