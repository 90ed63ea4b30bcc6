//! kernelwright 1
//! task    matmul_bias
//! input   a: fp32[M, K]
//! input   b: fp32[K, N]
//! input   bias?: fp32[N]
//! output  c: fp32[M, N]
//! when    has(bias)
//! launch  matmul<true> grid(ceil_div(N, 32), ceil_div(M, 32)) block(8, 8) args(a, b, bias, c, M, N, K)
//! when    true
//! launch  matmul<false> grid(ceil_div(N, 32), ceil_div(M, 32)) block(8, 8) args(a, b, bias, c, M, N, K)

// A block makes 32 x 32 results, a thread 4 x 4 of them in registers.
template <bool kBias>
__global__ void __launch_bounds__(64) matmul(const float* a, const float* b, const float* bias, float* c, int M, int N, int K) {
  __shared__ float left[8][33];
  __shared__ float right[8][32];
  int t = threadIdx.y * 8 + threadIdx.x;
  int row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += 8) {
    for (int i = t; i < 256; i += 64) {
      int r = i / 8, k = i % 8;
      left[k][r] = row0 + r < M && k0 + k < K ? a[(size_t)(row0 + r) * K + k0 + k] : 0.0f;
      int n = i % 32, kk = i / 32;
      right[kk][n] = k0 + kk < K && col0 + n < N ? b[(size_t)(k0 + kk) * N + col0 + n] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      float l[4], r[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        l[j] = left[k][threadIdx.y * 4 + j];
        r[j] = right[k][threadIdx.x + 8 * j];
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(l[i], r[j], sum[i][j]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      int row = row0 + threadIdx.y * 4 + i, col = col0 + threadIdx.x + 8 * j;
      if (row < M && col < N) c[(size_t)row * N + col] = kBias ? sum[i][j] + bias[col] : sum[i][j];
    }
  }
}
