//! kernelwright 1
//! task    transpose
//! input   x: fp32[B, D]
//! output  y: fp32[D, B]
//! launch  transpose grid(ceil_div(D, 32), ceil_div(B, 32)) block(32, 8) args(x, y, B, D)

__global__ void transpose(const float* x, float* y, int B, int D) {
  __shared__ float tile[32][33];
  for (int i = threadIdx.y; i < 32; i += 8) {
    const int row = blockIdx.y * 32 + i, column = blockIdx.x * 32 + threadIdx.x;
    if (row < B && column < D) tile[i][threadIdx.x] = x[static_cast<size_t>(row) * D + column];
  }
  __syncthreads();
  for (int i = threadIdx.y; i < 32; i += 8) {
    const int column = blockIdx.x * 32 + i, row = blockIdx.y * 32 + threadIdx.x;
    if (row < B && column < D) y[static_cast<size_t>(column) * B + row] = tile[threadIdx.x][i];
  }
}
