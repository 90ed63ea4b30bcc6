//! kernelwright 1
//! task    transpose
//! input   x: fp32[R, C]
//! output  y: fp32[C, R]
//! tune    TILE in 32, 16
//! tune    PAD in 1, 0
//! method  memory.bank_conflict when PAD > 0, off PAD=0
//! let     rows = ceil_div(R, TILE)
//! let     cols = ceil_div(C, TILE)
//! when    true
//! launch  transpose<TILE, PAD> grid(cols, rows) block(TILE, 8) args(x, y, R, C)

template <int kTile, int kPad>
__global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  __shared__ float tile[kTile][kTile + kPad];
  int col = blockIdx.x * kTile + threadIdx.x;
  for (int j = threadIdx.y; j < kTile; j += blockDim.y) {
    int row = blockIdx.y * kTile + j;
    if (row < rows && col < cols) tile[j][threadIdx.x] = x[(size_t)row * cols + col];
  }
  __syncthreads();
  int out_col = blockIdx.y * kTile + threadIdx.x;
  for (int j = threadIdx.y; j < kTile; j += blockDim.y) {
    int out_row = blockIdx.x * kTile + j;
    if (out_row < cols && out_col < rows) y[(size_t)out_row * rows + out_col] = tile[threadIdx.x][j];
  }
}
