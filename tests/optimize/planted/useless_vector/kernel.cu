// Four coefficients in one load, once per thread; the rest is as before.
//! kernelwright 1
//! task    useless_vector
//! input   x: fp32[N]
//! input   w: fp32[4]
//! output  y: fp32[N]
//! tune    WIDE in 1, 0
//! method  memory.vectorized_access when WIDE == 1, off WIDE=0
//! launch  cubic grid(ceil_div(N, 256 * 64)) block(256) args(x, w, y, N)

__global__ void cubic(const float* x, const float* w, float* y, long long n) {
#if WIDE
  const float4 c = *reinterpret_cast<const float4*>(w);
#else
  const float4 c = make_float4(w[0], w[1], w[2], w[3]);
#endif
  const long long block = static_cast<long long>(blockIdx.x) * 256 * 64;
#pragma unroll 4
  for (int k = 0; k < 64; ++k) {
    const long long i = block + k * 256 + threadIdx.x;
    if (i < n) y[i] = ((c.x * x[i] + c.y) * x[i] + c.z) * x[i] + c.w;
  }
}
