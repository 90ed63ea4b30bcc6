//! kernelwright 1
//! task    matmul
//! input   a: fp32[M, K]
//! input   b: fp32[K, N]
//! output  c: fp32[M, N]
//! tune    TILE in 16, 8
//! method  memory.tiling_smem
//! when    true
//! launch  matmul<TILE> grid(ceil_div(N, TILE), ceil_div(M, TILE)) block(TILE, TILE) args(a, b, c, M, N, K)

template <int kTile>
__global__ void matmul(const float* a, const float* b, float* c, int M, int N, int K) {
  __shared__ float left[kTile][kTile];
  __shared__ float right[kTile][kTile];
  int row = blockIdx.y * kTile + threadIdx.y, col = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int k0 = 0; k0 < K; k0 += kTile) {
    int ka = k0 + threadIdx.x, kb = k0 + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < M && ka < K ? a[(size_t)row * K + ka] : 0.0f;
    right[threadIdx.y][threadIdx.x] = kb < K && col < N ? b[(size_t)kb * N + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTile; ++k) sum = fmaf(left[threadIdx.y][k], right[k][threadIdx.x], sum);
    __syncthreads();
  }
  if (row < M && col < N) c[(size_t)row * N + col] = sum;
}
