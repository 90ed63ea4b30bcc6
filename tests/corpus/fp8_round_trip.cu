//! kernelwright 1
//! task    fp8_round_trip
//! input   x: fp32[N]
//! output  e4: fp8e4m3[N]
//! output  e5: fp8e5m2[N]
//! output  y: fp32[2, N]
//! when    true
//! launch  fp8_round_trip grid(ceil_div(N, 64)) block(64) args(x, e4, e5, y, N)
#include <cuda_fp8.h>

__global__ void fp8_round_trip(const float* x, __nv_fp8_e4m3* e4, __nv_fp8_e5m2* e5, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __nv_fp8_e4m3 a(x[i]);
  __nv_fp8_e5m2 b(x[i]);
  e4[i] = a;
  e5[i] = b;
  y[i] = (float)a;
  y[n + i] = (float)b;
}
