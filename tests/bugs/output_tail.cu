//! kernelwright 1
//! task    negate
//! input   x: fp32[N]
//! output  y: fp32[N]
//! when    true
//! launch  negate grid(max(1, N / 64)) block(64) args(x, y, N)
//? dims N=150
//? expect output-not-written

// Bug: the grid is rounded down, so the tail is never written.
__global__ void negate(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = -x[i];
}
