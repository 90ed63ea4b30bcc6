//! kernelwright 1
//! task    row_sum
//! input   x: fp32[B, D]
//! output  y: fp32[B]
//! launch  row_sum grid(B) block(32) args(x, y, D)

__global__ void row_sum(const float* x, float* y, int D) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < D; i += 32) sum += x[static_cast<size_t>(blockIdx.x) * D + i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
