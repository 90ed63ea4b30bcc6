// The loop is unrolled, but every thread waits for a sector of its own either way.
//! kernelwright 1
//! task    useless_unroll
//! input   x: fp32[N, 8]
//! output  y: fp32[N]
//! tune    UNROLL in 2, 1
//! method  compute.loop_unroll when UNROLL > 1, off UNROLL=1
//! launch  recur grid(ceil_div(N, 256)) block(256) args(x, y, N)

__global__ void recur(const float* x, float* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= n) return;
  float value = x[i * 8];
#pragma unroll UNROLL
  for (int k = 0; k < 2; ++k) value = fmaf(value, 0.5f, 1.0f);
  y[i] = value;
}
