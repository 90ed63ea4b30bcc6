//! kernelwright 1
//! task    softmax
//! input   x: fp32[B, D]
//! output  y: fp32[B, D]
//! launch  softmax grid(B) block(128) args(x, y, D)

__device__ float reduce(float value, bool maximum) {
  __shared__ float parts[4];
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, offset);
    value = maximum ? fmaxf(value, other) : value + other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  float total = parts[0];
  for (int i = 1; i < 4; ++i) total = maximum ? fmaxf(total, parts[i]) : total + parts[i];
  return total;
}

__global__ void softmax(const float* x, float* y, int D) {
  x += static_cast<size_t>(blockIdx.x) * D;
  y += static_cast<size_t>(blockIdx.x) * D;
  float most = -__int_as_float(0x7f800000);
  for (int i = threadIdx.x; i < D; i += 128) most = fmaxf(most, x[i]);
  most = reduce(most, true);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < D; i += 128) sum += expf(x[i] - most);
  sum = reduce(sum, false);
  for (int i = threadIdx.x; i < D; i += 128) y[i] = expf(x[i] - most) / sum;
}
