//! kernelwright 1
//! task    window
//! input   x: fp32[N]
//! output  y: fp32[N]
//! when    true
//! launch  window grid(ceil_div(N, 32)) block(32) args(x, y, N)
//? dims N=70

// Bug: near the end the window is only partly filled, and read whole.
__global__ void window(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float values[8];
  int count = min(8, n - i);
#pragma unroll 1
  for (int k = 0; k < count; ++k) values[(k + i) % 8] = x[i + k];
  float sum = 0.0f;
#pragma unroll 1
  for (int k = 0; k < 8; ++k) sum += values[(k + i) % 8];
  y[i] = sum;  //~ uninitialised-use
}
