//! kernelwright 1
//! task    row_sum
//! input   x: fp32[B, D]
//! output  y: fp32[B]
//! launch  row_sum grid(B) block(256) args(x, y, D)
__device__ float block_sum(float value) {
  __shared__ float sums[8];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  float total = 0.0f;
  for (int i = 0; i < 8; ++i) total += sums[i];
  __syncthreads();
  return total;
}

__global__ void row_sum(const float* x, float* y, int D) {
  const size_t row = static_cast<size_t>(blockIdx.x) * D;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < D; i += 256) sum += x[row + i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
