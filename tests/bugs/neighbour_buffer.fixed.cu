//! kernelwright 1
//! task    pairwise
//! input   a: fp32[N]
//! input   b: fp32[N]
//! output  y: fp32[N]
//! when    true
//! launch  pairwise grid(ceil_div(N, 64)) block(64) args(a, b, y, N)
//? dims N=256

// Mended twin of: the second input is taken to lie right behind the first.
__global__ void pairwise(const float* a, const float* b, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float second = b[i];
  y[i] = a[i] + second;
}
