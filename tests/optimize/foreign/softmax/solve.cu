// Rows of a matrix, one block each, as a library with C linkage would launch them.
#include <cuda_runtime.h>
#include <float.h>
#include <cstdio>
#include <cstdlib>

#define BLOCK 128
#define CUDA_CHECK(call)                                                        \
  do {                                                                          \
    cudaError_t status = (call);                                                \
    if (status != cudaSuccess) {                                                \
      fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));           \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

__global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y, int D) {
  __shared__ float part[BLOCK];
  const float* row = x + (size_t)blockIdx.x * D;
  float* out = y + (size_t)blockIdx.x * D;
  float largest = -FLT_MAX;
  for (int i = threadIdx.x; i < D; i += BLOCK) largest = fmaxf(largest, row[i]);
  part[threadIdx.x] = largest;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + s]);
    __syncthreads();
  }
  largest = part[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = threadIdx.x; i < D; i += BLOCK) sum += expf(row[i] - largest);
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < D; i += BLOCK) out[i] = expf(row[i] - largest) / part[0];
}

extern "C" void solve(const float* x, float *y, int B, int D) {
  softmax_rows<<<B, BLOCK>>>(x, y, D);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
}
