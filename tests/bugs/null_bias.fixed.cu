//! kernelwright 1
//! task    add_bias
//! input   x: fp32[N]
//! input   bias?: fp32[N]
//! output  y: fp32[N]
//! when    true
//! launch  add_bias grid(ceil_div(N, 32)) block(32) args(x, bias, y, N)
//? dims N=40
//? absent bias

// Mended twin of: the optional input is read although it may be null.
__global__ void add_bias(const float* x, const float* bias, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + (bias ? bias[i] : 0.0f);
}
