// The textbook's tiles: a block computes one square of the result, one element per thread, from
// squares of both factors in shared memory.
//! kernelwright 1
//! task    gemm
//! input   a: fp32[M, K]
//! input   b: fp32[K, N]
//! output  c: fp32[M, N]
//! tune    TILE in 16, 8, 32
//! launch  gemm grid(ceil_div(N, TILE), ceil_div(M, TILE)) block(TILE, TILE) args(a, b, c, M, N, K)

__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[TILE][TILE];
  __shared__ float tile_b[TILE][TILE];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int start = 0; start < k; start += TILE) {
    const int ka = start + threadIdx.x;
    const int kb = start + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] =
        row < m && ka < k ? a[static_cast<long long>(row) * k + ka] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] =
        kb < k && column < n ? b[static_cast<long long>(kb) * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[static_cast<long long>(row) * n + column] = sum;
}
