//! kernelwright 1
//! task    libm_float
//! input   x: fp32[N]
//! output  y: fp32[24, N]
//! when    true
//! launch  libm_float grid(ceil_div(N, 64)) block(64) args(x, y, N)

__global__ void libm_float(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], p = fabsf(v) + 0.01f, u = v / (1.0f + fabsf(v));
  y[0 * n + i] = sinf(v);
  y[1 * n + i] = cosf(v);
  y[2 * n + i] = tanf(v);
  y[3 * n + i] = expf(v);
  y[4 * n + i] = exp2f(v);
  y[5 * n + i] = expm1f(v);
  y[6 * n + i] = logf(p);
  y[7 * n + i] = log2f(p);
  y[8 * n + i] = log10f(p);
  y[9 * n + i] = log1pf(p);
  y[10 * n + i] = powf(p, u);
  y[11 * n + i] = erff(v);
  y[12 * n + i] = erfcf(u);
  y[13 * n + i] = tanhf(v);
  y[14 * n + i] = sinhf(u);
  y[15 * n + i] = coshf(u);
  y[16 * n + i] = atanf(v);
  y[17 * n + i] = atan2f(v, p);
  y[18 * n + i] = asinf(u);
  y[19 * n + i] = acosf(u);
  y[20 * n + i] = cbrtf(v);
  y[21 * n + i] = rsqrtf(p);
  y[22 * n + i] = sqrtf(p);
  y[23 * n + i] = fmodf(v, 0.7f);
}
