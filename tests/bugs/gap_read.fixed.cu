//! kernelwright 1
//! task    rows
//! input   x: fp32[R, C] strides(C + 4, 1)
//! output  y: fp32[R, C] strides(C + 4, 1)
//! when    true
//! launch  rows grid(R) block(32) args(x, y, C)
//? dims R=5 C=20

// Mended twin of: the sum takes in the padding behind the row.
__global__ void rows(const float* x, float* y, int cols) {
  int pitch = cols + 4;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum += x[blockIdx.x * pitch + c];
  for (int c = threadIdx.x; c < cols; c += 32) y[blockIdx.x * pitch + c] = sum;
}
