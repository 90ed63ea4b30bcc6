//! kernelwright 1
//! task    log_softmax
//! input   x: fp16[B, D]
//! output  y: fp16[B, D]
//! launch  log_softmax grid(B) block(256) args(x, y, D)
#include <cmath>
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

__device__ float block_max(float value) {
  __shared__ float tops[8];
  for (int offset = 16; offset > 0; offset /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, offset));
  if (threadIdx.x % 32 == 0) tops[threadIdx.x / 32] = value;
  __syncthreads();
  float top = tops[0];
  for (int i = 0; i < 8; ++i) top = fmaxf(top, tops[i]);
  __syncthreads();
  return top;
}

__global__ void log_softmax(const __half* x, __half* y, int D) {
  const size_t row = static_cast<size_t>(blockIdx.x) * D;
  float top = -INFINITY;
  for (int i = threadIdx.x; i < D; i += 256) top = fmaxf(top, __half2float(x[row + i]));
  top = block_max(top);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < D; i += 256) sum += expf(__half2float(x[row + i]) - top);
  sum = block_sum(sum);
  for (int i = threadIdx.x; i < D; i += 256) y[row + i] = __float2half(__half2float(x[row + i]) - top - logf(sum));
}
