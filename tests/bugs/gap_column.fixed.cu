//! kernelwright 1
//! task    rows
//! input   x: fp32[R, C] strides(2 * C, 2)
//! output  y: fp32[R, C] strides(2 * C, 2)
//! when    true
//! launch  rows grid(R) block(32) args(x, y, C)
//? dims R=3 C=20

// Mended twin of: every second element is another tensor; the kernel writes all of them.
__global__ void rows(const float* x, float* y, int cols) {
  int begin = blockIdx.x * 2 * cols;
  for (int c = threadIdx.x; c < 2 * cols; c += 32) {
    if (c % 2 != 0) continue;
    y[begin + c] = c % 2 == 0 ? x[begin + c] : 0.0f;
  }
}
