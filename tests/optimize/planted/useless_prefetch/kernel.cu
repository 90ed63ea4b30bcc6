// An element is asked for right before it is loaded: nothing comes any earlier.
//! kernelwright 1
//! task    useless_prefetch
//! input   x: fp32[N]
//! output  y: fp32[N]
//! tune    AHEAD in 1, 0
//! method  memory.explicit_l2_prefetch when AHEAD == 1, off AHEAD=0
//! launch  recur grid(ceil_div(N, 256)) block(256) args(x, y, N)

__global__ void recur(const float* x, float* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= n) return;
#if AHEAD
  asm volatile("prefetch.global.L2 [%0];" ::"l"(x + i));
#endif
  float value = x[i];
#pragma unroll 8
  for (int k = 0; k < 128; ++k) value = fmaf(value, 0.5f, 1.0f);
  y[i] = value;
}
