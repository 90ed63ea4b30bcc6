//! kernelwright 1
//! task    matmul
//! input   a: fp32[M, K]
//! input   b: fp32[K, N]
//! output  c: fp32[M, N]
//! launch  matmul grid(ceil_div(N, 32), ceil_div(M, 32)) block(32, 8) args(a, b, c, M, N, K)
// 32 x 32 tiles through shared memory, four rows per thread.
__global__ void matmul(const float* a, const float* b, float* c, int M, int N, int K) {
  __shared__ float as[32][32], bs[32][32];
  const int col = blockIdx.x * 32 + threadIdx.x, top = blockIdx.y * 32;
  float sums[4] = {};
  for (int k0 = 0; k0 < K; k0 += 32) {
    for (int r = threadIdx.y; r < 32; r += 8) {
      const int k = k0 + threadIdx.x;
      as[r][threadIdx.x] = top + r < M && k < K ? a[static_cast<size_t>(top + r) * K + k] : 0.0f;
      bs[r][threadIdx.x] = k0 + r < K && col < N ? b[static_cast<size_t>(k0 + r) * N + col] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < 32; ++k) {
      for (int j = 0; j < 4; ++j) sums[j] += as[threadIdx.y + 8 * j][k] * bs[k][threadIdx.x];
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j) {
    const int row = top + threadIdx.y + 8 * j;
    if (row < M && col < N) c[static_cast<size_t>(row) * N + col] = sums[j];
  }
}
