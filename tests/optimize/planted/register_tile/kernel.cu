// A square of results per thread; without it one.
//! kernelwright 1
//! task    register_tile
//! input   a: fp32[M, K]
//! input   b: fp32[K, N]
//! output  c: fp32[M, N]
//! tune    EACH in 4, 1
//! let     TILE = 16 * EACH
//! method  compute.ilp_unroll_register_tile when EACH > 1, off EACH=1
//! launch  product grid(ceil_div(N, TILE), ceil_div(M, TILE)) block(16, 16) args(a, b, c, M, N, K)

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
  constexpr int kTile = 16 * EACH;
  __shared__ float left[kTile][17];
  __shared__ float right[16][kTile];
  const int top = blockIdx.y * kTile, side = blockIdx.x * kTile;
  float sum[EACH][EACH] = {};
  for (int start = 0; start < k; start += 16) {
    for (int e = 0; e < EACH; ++e) {
      const int row = e * 16 + threadIdx.y, column = e * 16 + threadIdx.x;
      const int ka = start + threadIdx.x, kb = start + threadIdx.y;
      left[row][threadIdx.x] =
          top + row < m && ka < k ? a[static_cast<long long>(top + row) * k + ka] : 0.0f;
      right[threadIdx.y][column] =
          side + column < n && kb < k ? b[static_cast<long long>(kb) * n + side + column] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < 16; ++i) {
      float x[EACH], y[EACH];
      for (int e = 0; e < EACH; ++e) x[e] = left[e * 16 + threadIdx.y][i];
      for (int e = 0; e < EACH; ++e) y[e] = right[i][e * 16 + threadIdx.x];
      for (int p = 0; p < EACH; ++p) {
        for (int q = 0; q < EACH; ++q) sum[p][q] += x[p] * y[q];
      }
    }
    __syncthreads();
  }
  for (int p = 0; p < EACH; ++p) {
    for (int q = 0; q < EACH; ++q) {
      const int row = top + p * 16 + threadIdx.y, column = side + q * 16 + threadIdx.x;
      if (row < m && column < n) c[static_cast<long long>(row) * n + column] = sum[p][q];
    }
  }
}
