//! kernelwright 1
//! task    trig_large
//! input   x: fp32[N]
//! input   d: fp64[N]
//! output  y: fp32[3, N]
//! output  z: fp64[2, N]
//! when    true
//! launch  trig_large grid(ceil_div(N, 32)) block(32) args(x, d, y, z, N)

// Arguments far beyond what a short reduction serves: the long one keeps digits of 2/pi in tables and local memory.
__global__ void trig_large(const float* x, const double* d, float* y, double* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[0 * n + i] = sinf(x[i]);
  y[1 * n + i] = cosf(x[i]);
  y[2 * n + i] = tanf(x[i]);
  z[0 * n + i] = sin(d[i]);
  z[1 * n + i] = cos(d[i]);
}
