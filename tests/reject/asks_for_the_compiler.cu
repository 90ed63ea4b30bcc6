//! kernelwright 1
//! task    copy
//! input   x: fp32[N]
//! output  y: fp32[N]
//! launch  copy grid(ceil_div(N, 256)) block(256) args(x, y, N)
__global__ void copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
#ifdef __CUDACC_RTC__
#endif
