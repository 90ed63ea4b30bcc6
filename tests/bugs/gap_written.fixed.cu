//! kernelwright 1
//! task    rows
//! input   x: fp32[R, C] strides(C + 4, 1)
//! output  y: fp32[R, C] strides(C + 4, 1)
//! when    true
//! launch  rows grid(R) block(32) args(x, y, C)
//? dims R=5 C=20

// Mended twin of: the padding behind each row belongs to another tensor, and is cleared.
__global__ void rows(const float* x, float* y, int cols) {
  int pitch = cols + 4;
  for (int c = threadIdx.x; c < cols; c += 32)
    y[blockIdx.x * pitch + c] = c < cols ? x[blockIdx.x * pitch + c] : 0.0f;
}
