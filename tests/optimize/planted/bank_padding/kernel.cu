// A column more per row of the tile; without it all lanes meet in one bank.
//! kernelwright 1
//! task    bank_padding
//! input   x: fp32[M, N]
//! output  y: fp32[N, M]
//! tune    PAD in 1, 0
//! method  memory.bank_conflict when PAD > 0, off PAD=0
//! launch  turn grid(ceil_div(N, 32), ceil_div(M, 32)) block(32, 8) args(x, y, M, N)

__global__ void turn(const float* x, float* y, int rows, int columns) {
  __shared__ float tile[32][32 + PAD];
  const int column = blockIdx.x * 32 + threadIdx.x;
  const int top = blockIdx.y * 32;
  for (int r = threadIdx.y; r < 32; r += 8) {
    if (top + r < rows && column < columns) {
      tile[r][threadIdx.x] = x[static_cast<long long>(top + r) * columns + column];
    }
  }
  __syncthreads();
  const int row = top + threadIdx.x;
  for (int c = threadIdx.y; c < 32; c += 8) {
    const int out = blockIdx.x * 32 + c;
    if (out < columns && row < rows) y[static_cast<long long>(out) * rows + row] = tile[threadIdx.x][c];
  }
}
