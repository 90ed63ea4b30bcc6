//! kernelwright 1
//! task    copy
//! input   x: fp32[N]
//! output  y: fp32[N]
//! repeat  p in 0..2
//! launch  copy grid(1) block(256) args(x, y, N)
//! end
//! launch  copy grid(1) block(256) args(x, y, p)
__global__ void copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
