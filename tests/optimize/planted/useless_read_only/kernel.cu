// Loads go the read-only way; the kernel is busy with arithmetic.
//! kernelwright 1
//! task    useless_read_only
//! input   x: fp32[N]
//! output  y: fp32[N]
//! tune    ASIDE in 1, 0
//! method  memory.cache_and_readonly when ASIDE == 1, off ASIDE=0
//! launch  recur grid(ceil_div(N, 256)) block(256) args(x, y, N)

__global__ void recur(const float* x, float* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= n) return;
#if ASIDE
  float value = __ldg(x + i);
#else
  float value = x[i];
#endif
#pragma unroll 8
  for (int k = 0; k < 128; ++k) value = fmaf(value, 0.5f, 1.0f);
  y[i] = value;
}
