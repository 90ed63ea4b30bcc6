//! kernelwright 1
//! task    rms_norm
//! input   x: fp16[B, D]
//! input   w: fp16[D]
//! scalar  eps: fp32 = 1e-5
//! output  y: fp16[B, D]
//! launch  rms_norm grid(B) block(256) args(x, w, y, D, eps)
#include <cuda_fp16.h>

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

__global__ void rms_norm(const __half* x, const __half* w, __half* y, int D, float eps) {
  const size_t row = static_cast<size_t>(blockIdx.x) * D;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < D; i += 256) {
    const float v = __half2float(x[row + i]);
    sum += v * v;
  }
  const float scale = rsqrtf(block_sum(sum) / D + eps);
  for (int i = threadIdx.x; i < D; i += 256) {
    y[row + i] = __float2half(__half2float(x[row + i]) * scale * __half2float(w[i]));
  }
}
