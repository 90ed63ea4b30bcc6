//! kernelwright 1
//! task    layer_norm
//! input   x: fp32[B, D]
//! input   w: fp32[D]
//! input   b: fp32[D]
//! scalar  eps: fp32 = 1e-5
//! output  y: fp32[B, D]
//! launch  layer_norm grid(B) block(256) args(x, w, b, y, D, eps)
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

__global__ void layer_norm(const float* x, const float* w, const float* b, float* y, int D, float eps) {
  const size_t row = static_cast<size_t>(blockIdx.x) * D;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < D; i += 256) sum += x[row + i];
  const float mean = block_sum(sum) / D;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < D; i += 256) {
    const float d = x[row + i] - mean;
    squares += d * d;
  }
  const float scale = rsqrtf(block_sum(squares) / D + eps);
  for (int i = threadIdx.x; i < D; i += 256) y[row + i] = (x[row + i] - mean) * scale * w[i] + b[i];
}
