//! kernelwright 1
//! task    rows_out
//! input   x: fp32[R, C]
//! output  y: fp32[R, C] strides(C + 4, 1)
//! when    true
//! launch  rows_out grid(R) block(32) args(x, y, C)
//? dims R=5 C=20
//? expect output-not-written
//? expect out-of-bounds-global

// Bug: the rows are written as if they lay close together.
__global__ void rows_out(const float* x, float* y, int cols) {
  int pitch = cols;
  for (int c = threadIdx.x; c < cols; c += 32) y[blockIdx.x * pitch + c] = x[blockIdx.x * cols + c];
}
