//! kernelwright 1
//! task    layer_norm
//! input   x: fp32[B, D]
//! input   w: fp32[D]
//! input   b: fp32[D]
//! output  y: fp32[B, D]
//! launch  layer_norm grid(B) block(128) args(x, w, b, y, D)

__device__ float sum_of(float value) {
  __shared__ float parts[4];
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  return parts[0] + parts[1] + parts[2] + parts[3];
}

__global__ void layer_norm(const float* x, const float* w, const float* b, float* y, int D) {
  x += static_cast<size_t>(blockIdx.x) * D;
  y += static_cast<size_t>(blockIdx.x) * D;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < D; i += 128) sum += x[i];
  const float mean = sum_of(sum) / D;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < D; i += 128) squares += (x[i] - mean) * (x[i] - mean);
  const float variance = sum_of(squares) / D;
  const float scale = rsqrtf(variance + 1e-5f);
  for (int i = threadIdx.x; i < D; i += 128) y[i] = (x[i] - mean) * scale * w[i] + b[i];
}
