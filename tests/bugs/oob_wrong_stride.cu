//! kernelwright 1
//! task    add_column
//! input   x: int32[R, C]
//! output  y: int32[R, C]
//! when    true
//! launch  add_column grid(ceil_div(C, 32), R) block(32) args(x, y, R, C)
//? dims R=33 C=20

// Bug: rows are taken for the row stride.
__global__ void add_column(const int* x, int* y, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < cols) {
    int v = x[blockIdx.y * rows + c];  //~ out-of-bounds-global
    y[blockIdx.y * cols + c] = v + c;
  }
}
