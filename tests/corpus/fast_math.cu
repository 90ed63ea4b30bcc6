//! kernelwright 1
//! task    fast_math
//! input   x: fp32[N]
//! output  y: fp32[9, N]
//! output  t: fp32[N]
//! when    true
//! launch  fast_math grid(ceil_div(N, 64)) block(64) args(x, y, t, N)

// The ISA's approximate functions; what the ISA states is a bound on their error, not their bits.
__global__ void fast_math(const float* x, float* y, float* t, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], p = fabsf(v) + 0.01f, r;
  y[0 * n + i] = __expf(v);
  y[1 * n + i] = __logf(p);
  y[2 * n + i] = __sinf(v);
  y[3 * n + i] = __cosf(v);
  y[4 * n + i] = __fdividef(v, p);
  y[5 * n + i] = rsqrtf(p);
  asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(v));
  t[i] = r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(p));
  y[7 * n + i] = r;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(p));
  y[8 * n + i] = r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  y[6 * n + i] = r;
}
