//! kernelwright 1
//! task    libm_double
//! input   x: fp64[N]
//! output  y: fp64[16, N]
//! when    true
//! launch  libm_double grid(ceil_div(N, 32)) block(32) args(x, y, N)

__global__ void libm_double(const double* x, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double v = x[i], p = fabs(v) + 0.01, u = v / (1.0 + fabs(v));
  y[0 * n + i] = sin(v);
  y[1 * n + i] = cos(v);
  y[2 * n + i] = tan(u);
  y[3 * n + i] = exp(v);
  y[4 * n + i] = log(p);
  y[5 * n + i] = pow(p, u);
  y[6 * n + i] = erf(v);
  y[7 * n + i] = tanh(v);
  y[8 * n + i] = atan(v);
  y[9 * n + i] = asin(u);
  y[10 * n + i] = cbrt(v);
  y[11 * n + i] = sqrt(p);
  y[12 * n + i] = 1.0 / p;
  y[13 * n + i] = rint(v) + floor(v) + ceil(v) + trunc(v);
  y[14 * n + i] = fma(v, p, u);
  y[15 * n + i] = rsqrt(p);
}
