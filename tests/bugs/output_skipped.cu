//! kernelwright 1
//! task    positive_only
//! input   x: fp32[N]
//! output  y: fp32[N]
//! when    true
//! launch  positive_only grid(ceil_div(N, 64)) block(64) args(x, y, N)
//? dims N=150
//? expect output-not-written

// Bug: elements that are not positive are left as they were instead of being set to zero.
__global__ void positive_only(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0.0f) y[i] = x[i];
}
