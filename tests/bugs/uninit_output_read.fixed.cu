//! kernelwright 1
//! task    accumulate
//! input   x: fp32[R, N]
//! output  y: fp32[N]
//! when    true
//! launch  accumulate grid(ceil_div(N, 64)) block(64) args(x, y, R, N)
//? dims R=3 N=70

// Mended twin of: the sum starts from whatever the output buffer held.
__global__ void accumulate(const float* x, float* y, int rows, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int r = 0; r < rows; ++r) sum += x[r * n + i];
  y[i] = sum;
}
