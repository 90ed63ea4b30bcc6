//! kernelwright 1
//! task    checked_sqrt
//! input   x: fp32[N]
//! output  y: fp32[N]
//! when    true
//! launch  checked_sqrt grid(ceil_div(N, 32)) block(32) args(x, y, N)
//? dims N=64
//? also output-not-written

// Bug: negative values do come.
__global__ void checked_sqrt(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  assert(v >= 0.0f);  //~ trap
  y[i] = sqrtf(v);
}
