//! kernelwright 1
//! task    copy
//! input   x: fp32[N]
//! output  y: fp32[N]
//! launch  copy grid(4) block(256) cluster(2) args(x, y, N)
__global__ void copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
// bind: dim N=4
// bind: target sm_80
// bind: kernel copy ; copy(float const*, float*, int)
