//! kernelwright 1
//! task    clamp
//! input   x: fp32[N]
//! output  y: fp32[N]
//! when    true
//! launch  clamp grid(ceil_div(N, 64)) block(64) args(x, y, N)
//? dims N=130

// Mended twin of: the input is clamped in place on the way.
__global__ void clamp(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = fminf(fmaxf(x[i], -1.0f), 1.0f);
  y[i] = v;
}
