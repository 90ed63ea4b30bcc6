// Float and double functions of the CUDA math library, printf and assert.
#include <cassert>
#include <cstdio>
__global__ void libm(const double* x, double* y, const float* f, float* g, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  assert(x[i] == x[i]);
  y[i] = sin(x[i]) + exp(x[i]) + pow(x[i], 1.5) + lgamma(x[i]) + fmod(x[i], 3.0) + rsqrt(x[i]);
  g[i] = sinf(f[i]) + tanhf(f[i]) + erff(f[i]) + powf(f[i], 2.5f) + cbrtf(f[i]) + __expf(f[i]);
  if (i == 0) printf("first %f %d %s\n", y[0], n, "text");
}
