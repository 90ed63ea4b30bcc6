//! kernelwright 1
//! task    strided_add
//! input   x: fp32[R, C] strides(C + 3, 1)
//! input   z: fp32[R, C] strides(1, R)
//! output  y: fp32[R, C]
//! when    true
//! launch  strided_add grid(ceil_div(C, 32), R) block(32) args(x, z, y, R, C, C + 3)

__global__ void strided_add(const float* x, const float* z, float* y, int rows, int cols, long long x_row) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y;
  if (c < cols) y[r * cols + c] = x[r * x_row + c] + z[(long long)c * rows + r];
}
