//! kernelwright 1
//! task    copy backward
//! grad_output grad_y: fp32[N]
//! input   x: fp32[N]
//! output  grad_x: fp32[N]
//! launch  copy grid(1) block(256) args(grad_y, grad_x, N)
__global__ void copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
