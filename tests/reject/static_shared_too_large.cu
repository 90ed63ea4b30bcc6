//! kernelwright 1
//! task    copy
//! input   x: fp32[N]
//! output  y: fp32[N]
//! launch  copy grid(1) block(256) args(x, y, N)
__global__ void copy(const float* x, float* y, int n) {
  __shared__ float buffer[12544];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) buffer[i] = x[i];
  if (i < n) y[i] = buffer[i];
}
// bind: dim N=256
// bind: kernel copy ; copy(float const*, float*, int) ; 32 ; 50176
