//! kernelwright 1
//! task   turn
//! input  x: fp32[M, N]
//! output y: fp32[N, M]
//! launch turn grid(ceil_div(N, 32), ceil_div(M, 32)) block(32, 8) args(x, y, M, N)
// A tile without padding: every column of it lies in one bank.
__global__ void turn(const float* x, float* y, int m, int n) {
  __shared__ float tile[32][32];
  const int column = blockIdx.x * 32 + threadIdx.x;
  for (int row = threadIdx.y; row < 32; row += 8) {
    const int from = blockIdx.y * 32 + row;
    if (from < m && column < n) tile[row][threadIdx.x] = x[(long long)from * n + column];
  }
  __syncthreads();
  const int to = blockIdx.y * 32 + threadIdx.x;
  for (int row = threadIdx.y; row < 32; row += 8) {
    const int line = blockIdx.x * 32 + row;
    if (line < n && to < m) y[(long long)line * m + to] = tile[threadIdx.x][row];
  }
}
