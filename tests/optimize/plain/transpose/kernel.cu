// One thread per element: rows are read in order, columns are written.
//! kernelwright 1
//! task    transpose
//! input   x: fp32[M, N]
//! output  y: fp32[N, M]
//! tune    TILE in 16, 8, 32
//! launch  transpose grid(ceil_div(N, TILE), ceil_div(M, TILE)) block(TILE, TILE) args(x, y, M, N)

__global__ void transpose(const float* x, float* y, int rows, int columns) {
  const int column = blockIdx.x * TILE + threadIdx.x;
  const int row = blockIdx.y * TILE + threadIdx.y;
  if (row < rows && column < columns) {
    y[static_cast<long long>(column) * rows + row] = x[static_cast<long long>(row) * columns + column];
  }
}
