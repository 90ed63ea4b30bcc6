//! kernelwright 1
//! task    edge_floats
//! input   a: fp32[N]
//! input   b: fp32[N]
//! output  y: fp32[9, N]
//! output  test: int32[N]
//! output  z: fp64[4, N]
//! when    true
//! launch  edge_floats grid(ceil_div(N, 64)) block(64) args(a, b, y, test, z, N)

// Infinities, NaN, both zeros and denormals through the exact operations.
__global__ void edge_floats(const float* a, const float* b, float* y, int* test, double* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float u = a[i], v = b[i];
  y[0 * n + i] = __fadd_rn(u, v);
  y[1 * n + i] = __fmul_rn(u, v);
  y[2 * n + i] = __fdiv_rn(u, v);
  y[3 * n + i] = fminf(u, v);
  y[4 * n + i] = fmaxf(u, v);
  y[5 * n + i] = __fmaf_rn(u, v, -u);
  y[6 * n + i] = __fsqrt_rn(u);
  y[7 * n + i] = fabsf(u) + (signbit(v) ? -0.0f : 0.0f);
  y[8 * n + i] = copysignf(u, v);
  test[i] = (u < v) | (u <= v) << 1 | (u == v) << 2 | (u != v) << 3 | (u >= v) << 4 | (u > v) << 5 | isnan(u) << 6 |
            isinf(v) << 7 | signbit(u) << 8 | !(u < v) << 9;
  double p = u, q = v;
  z[0 * n + i] = p + q;
  z[1 * n + i] = __dmul_rn(p, q) * 1e-280;
  z[2 * n + i] = __ddiv_rn(p, q);
  z[3 * n + i] = fmin(p, q);
}
