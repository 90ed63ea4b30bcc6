//! kernelwright 1
//! task    row_sum
//! input   x: fp32[R, C]
//! output  y: fp32[R]
//! when    true
//! launch  row_sum grid(R) block(32) args(x, y, C)
//? dims R=3 C=70

// Bug: the loop runs one element too far; only in the last row does that leave the buffer.
__global__ void row_sum(const float* x, float* y, int cols) {
  float sum = 0.0f;
  for (int c = threadIdx.x; c <= cols; c += 32) {
    sum += x[blockIdx.x * cols + c];  //~ out-of-bounds-global
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
