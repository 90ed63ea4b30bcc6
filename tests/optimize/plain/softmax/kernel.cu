// One block per row, three passes over it: the largest element, the sum of exponentials, the
// result. Every reduction is a tree in shared memory.
//! kernelwright 1
//! task    softmax
//! input   x: fp32[B, D]
//! output  y: fp32[B, D]
//! tune    THREADS in 256, 128, 512, 1024
//! launch  softmax grid(B) block(THREADS) args(x, y, D)
#include <math_constants.h>

__global__ void softmax(const float* x, float* y, int columns) {
  __shared__ float part[THREADS];
  const float* row = x + static_cast<long long>(blockIdx.x) * columns;
  float* result = y + static_cast<long long>(blockIdx.x) * columns;

  float largest = -CUDART_INF_F;
  for (int i = threadIdx.x; i < columns; i += THREADS) largest = fmaxf(largest, row[i]);
  part[threadIdx.x] = largest;
  __syncthreads();
  for (int step = THREADS / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + step]);
    __syncthreads();
  }
  largest = part[0];
  __syncthreads();

  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += THREADS) sum += expf(row[i] - largest);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int step = THREADS / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  sum = part[0];

  for (int i = threadIdx.x; i < columns; i += THREADS) result[i] = expf(row[i] - largest) / sum;
}
