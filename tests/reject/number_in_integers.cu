//! kernelwright 1
//! task    copy
//! input   x: fp32[N]
//! output  y: fp32[N]
//! let     SCALE: fp32 = sqrt(N)
//! let     BLOCKS = SCALE + 1
//! launch  copy grid(ceil_div(N, 256)) block(256) args(x, y, N, SCALE)
__global__ void copy(const float* x, float* y, int n, float scale) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = scale * x[i];
}
