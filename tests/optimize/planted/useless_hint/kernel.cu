// Loads say that they are read once; the kernel is busy with arithmetic.
//! kernelwright 1
//! task    useless_hint
//! input   x: fp32[N]
//! output  y: fp32[N]
//! tune    HINT in 1, 0
//! method  memory.ldg_cache_modifier_hint when HINT == 1, off HINT=0
//! launch  recur grid(ceil_div(N, 256)) block(256) args(x, y, N)

__global__ void recur(const float* x, float* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= n) return;
#if HINT
  float value = __ldcs(x + i);
#else
  float value = x[i];
#endif
#pragma unroll 8
  for (int k = 0; k < 128; ++k) value = fmaf(value, 0.5f, 1.0f);
  y[i] = value;
}
