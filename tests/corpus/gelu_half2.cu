//! kernelwright 1
//! task    gelu
//! input   x: fp16[N]
//! output  y: fp16[N]
//! tune    THREADS in 128
//! when    true
//! launch  gelu grid(ceil_div(ceil_div(N, 2), THREADS)) block(THREADS) args(x, y, N)
#include <cuda_fp16.h>

__device__ float gelu_one(float v) {
  float inner = 0.7978845608f * (v + 0.044715f * v * v * v);
  return 0.5f * v * (1.0f + tanhf(inner));
}

__global__ void gelu(const __half* __restrict__ x, __half* __restrict__ y, int n) {
  int pair = blockIdx.x * blockDim.x + threadIdx.x;
  int at = 2 * pair;
  if (at + 1 < n) {
    float2 v = __half22float2(reinterpret_cast<const __half2*>(x)[pair]);
    reinterpret_cast<__half2*>(y)[pair] = __floats2half2_rn(gelu_one(v.x), gelu_one(v.y));
  } else if (at < n) {
    y[at] = __float2half_rn(gelu_one(__half2float(x[at])));
  }
}
