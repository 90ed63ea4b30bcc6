//! kernelwright 1
//! task    copy
//! input   x: fp32[N]
//! output  y: fp32[N]
//! scratch a: fp32[N]
//! scratch b: fp32[N]
//! repeat  p in 0..3
//! launch  copy grid(1) block(256) args(x, pick(p, a, b), N)
//! end
//! launch  copy grid(1) block(256) args(a, y, N)
__global__ void copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
// bind: dim N=4
// bind: kernel copy ; copy(float const*, float*, int)
