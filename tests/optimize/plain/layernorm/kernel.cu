// One block per row, three passes over it: the mean, the variance, the result.
//! kernelwright 1
//! task    layernorm
//! input   x: fp16[B, D]
//! input   weight: fp16[D]
//! input   bias: fp16[D]
//! scalar  eps: fp32 = 1e-5
//! output  y: fp16[B, D]
//! tune    THREADS in 256, 128, 512, 1024
//! launch  layernorm grid(B) block(THREADS) args(x, weight, bias, y, D, eps)
#include <cuda_fp16.h>

__device__ float block_sum(float value, float* part) {
  part[threadIdx.x] = value;
  __syncthreads();
  for (int step = THREADS / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  const float sum = part[0];
  __syncthreads();
  return sum;
}

__global__ void layernorm(const __half* x, const __half* weight, const __half* bias, __half* y,
                          int columns, float eps) {
  __shared__ float part[THREADS];
  const __half* row = x + static_cast<long long>(blockIdx.x) * columns;
  __half* result = y + static_cast<long long>(blockIdx.x) * columns;

  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += THREADS) sum += __half2float(row[i]);
  const float mean = block_sum(sum, part) / columns;

  float squares = 0;
  for (int i = threadIdx.x; i < columns; i += THREADS) {
    const float centred = __half2float(row[i]) - mean;
    squares += centred * centred;
  }
  const float scale = rsqrtf(block_sum(squares, part) / columns + eps);

  for (int i = threadIdx.x; i < columns; i += THREADS) {
    const float centred = __half2float(row[i]) - mean;
    result[i] = __float2half(centred * scale * __half2float(weight[i]) + __half2float(bias[i]));
  }
}
