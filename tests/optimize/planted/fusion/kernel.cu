// Both steps in one kernel; without it the sums travel through memory.
//! kernelwright 1
//! task    fusion
//! input   x: fp32[N]
//! input   z: fp32[N]
//! output  y: fp32[N]
//! scratch between: fp32[N]
//! tune    FUSED in 1, 0
//! method  memory.kernel_fusion when FUSED == 1, off FUSED=0
//! when    FUSED == 1
//! launch  both grid(ceil_div(N, 256)) block(256) args(x, z, y, N)
//! when    true
//! launch  add grid(ceil_div(N, 256)) block(256) args(x, z, between, N)
//! launch  rectify grid(ceil_div(N, 256)) block(256) args(between, y, N)

__global__ void both(const float* x, const float* z, float* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i] + z[i], 0.0f);
}

__global__ void add(const float* x, const float* z, float* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i < n) y[i] = x[i] + z[i];
}

__global__ void rectify(const float* x, float* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.0f);
}
