//! kernelwright 1
//! task    rows
//! input   x: fp32[R, C] strides(C + 6, 1)
//! output  y: fp32[R, C] strides(C + 6, 1)
//! when    true
//! launch  rows grid(R) block(32) args(x, y, C)
//? dims R=3 C=18

// Mended twin of: the last float4 of a row reaches over its end into the padding.
__global__ void rows(const float* x, float* y, int cols) {
  int pitch = cols + 6;
  for (int c = 4 * threadIdx.x; c < cols; c += 128) {
    if (c + 4 <= cols) {
      *(float4*)&y[blockIdx.x * pitch + c] = *(const float4*)&x[blockIdx.x * pitch + c];
    } else {
      for (int i = c; i < cols; ++i) y[blockIdx.x * pitch + i] = x[blockIdx.x * pitch + i];
    }
  }
}
