//! kernelwright 1
//! task    transpose
//! input   x: fp32[R, C]
//! output  y: fp32[C, R]
//! when    true
//! launch  transpose grid(ceil_div(C, 16), ceil_div(R, 16)) block(16, 16) args(x, y, R, C)
//? dims R=40 C=24
//? also uninitialised-use output-not-written

// Bug: the bounds of the transposed tile are swapped.
__global__ void transpose(const float* x, float* y, int rows, int cols) {
  __shared__ float tile[16][17];
  int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
  if (r < rows && c < cols) tile[threadIdx.y][threadIdx.x] = x[r * cols + c];
  __syncthreads();
  int oc = blockIdx.y * 16 + threadIdx.x, orow = blockIdx.x * 16 + threadIdx.y;
  if (oc < rows && orow < rows) {
    y[orow * rows + oc] = tile[threadIdx.x][threadIdx.y];  //~ out-of-bounds-global
  }
}
