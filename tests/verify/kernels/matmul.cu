//! kernelwright 1
//! task    matmul
//! input   a: fp32[M, K]
//! input   b: fp32[K, N]
//! output  y: fp32[M, N]
//! launch  matmul grid(ceil_div(N, 16), ceil_div(M, 16)) block(16, 16) args(a, b, y, M, N, K)

__global__ void matmul(const float* a, const float* b, float* y, int M, int N, int K) {
  __shared__ float left[16][16], right[16][16];
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int k = 0; k < K; k += 16) {
    const int ka = k + threadIdx.x, kb = k + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < M && ka < K ? a[static_cast<size_t>(row) * K + ka] : 0.0f;
    right[threadIdx.y][threadIdx.x] = kb < K && column < N ? b[static_cast<size_t>(kb) * N + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  if (row < M && column < N) y[static_cast<size_t>(row) * N + column] = sum;
}
