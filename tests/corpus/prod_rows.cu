//! kernelwright 1
//! task    prod
//! input   x: fp32[R, C]
//! output  y: fp32[R]
//! when    true
//! launch  prod grid(R) block(64) args(x, y, C)

__global__ void prod(const float* x, float* y, int cols) {
  __shared__ float other;
  float p = 1.0f;
  for (int c = threadIdx.x; c < cols; c += 64) p *= x[(size_t)blockIdx.x * cols + c];
  for (int step = 1; step < 32; step *= 2) p *= __shfl_xor_sync(0xffffffffu, p, step);
  if (threadIdx.x == 32) other = p;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = p * other;
}
