//! kernelwright 1
//! task    copy
//! input   x: fp32[N] align 4
//! output  y: fp32[N]
//! when    N % 4 == 0
//! launch  copy grid(ceil_div(N, 128)) block(32) args(x, y, N)
//? dims N=256
//? misalign 4

// Mended twin of: the tensor is declared with an alignment of 4 bytes, and read by float4.
__global__ void copy(const float* x, float* y, int n) {
  int i = 4 * (blockIdx.x * 32 + threadIdx.x);
  if (i >= n) return;
  for (int k = i; k < i + 4; ++k) y[k] = x[k];
}
