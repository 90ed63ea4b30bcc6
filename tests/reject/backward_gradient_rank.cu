//! kernelwright 1
//! task    copy backward
//! input   x: fp32[N]
//! grad_output grad_y: fp32[N]
//! output  grad_x: fp32[N, 2]
//! launch  copy grid(1) block(256) args(grad_y, grad_x, N)
__global__ void copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
