//! kernelwright 1
//! task    total
//! input   x: fp32[N]
//! output  y: fp32[1]
//! scratch parts: fp32[64]
//! scratch count: uint32[1] = 0
//! when    N % 64 == 0 && N <= 4096
//! launch  total grid(N / 64) block(64) args(x, parts, count, y)
//? dims N=256
//? expect output-not-written

// Bug: no block ever draws the number of blocks: the last one draws one less.
__global__ void total(const float* x, float* parts, unsigned* count, float* y) {
  if (threadIdx.x != 0) return;
  float sum = 0.0f;
  for (int i = 0; i < 64; ++i) sum += x[blockIdx.x * 64 + i];
  parts[blockIdx.x] = sum;
  __threadfence();
  if (atomicAdd(count, 1u) != gridDim.x) return;
  __threadfence();
  sum = 0.0f;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += parts[b];
  y[0] = sum;
}
