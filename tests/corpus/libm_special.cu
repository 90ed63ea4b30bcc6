//! kernelwright 1
//! task    libm_special
//! input   x: fp32[N]
//! output  y: fp32[10, N]
//! output  z: fp64[6, N]
//! when    true
//! launch  libm_special grid(ceil_div(N, 32)) block(32) args(x, y, z, N)

__global__ void libm_special(const float* x, float* y, double* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float p = fabsf(x[i]) + 0.125f, u = x[i] / (1.0f + fabsf(x[i]));
  double q = p, w = u;
  int e;
  y[0 * n + i] = tgammaf(p);
  y[1 * n + i] = lgammaf(p + 2.5f);
  y[2 * n + i] = j0f(p);
  y[3 * n + i] = hypotf(p, u);
  y[4 * n + i] = exp10f(u);
  y[5 * n + i] = atanhf(u);
  y[6 * n + i] = asinhf(p);
  float fraction = frexpf(p, &e);
  y[7 * n + i] = fraction + (float)e;
  y[8 * n + i] = ldexpf(u, e + 3);
  y[9 * n + i] = remainderf(x[i], 0.75f) + nextafterf(p, 0.0f);
  z[0 * n + i] = tgamma(q);
  z[1 * n + i] = lgamma(q + 2.5);
  z[2 * n + i] = erfc(w);
  z[3 * n + i] = acosh(1.0 + q);
  z[4 * n + i] = exp2(w) + log1p(q) + expm1(w);
  z[5 * n + i] = hypot(q, w) + logb(q) + fmod(q, 0.3);
}
