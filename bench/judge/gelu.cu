//! kernelwright 1
//! task    gelu
//! input   x: fp16[N]
//! output  y: fp16[N]
//! when    N % 8 == 0
//! launch  gelu<8> grid(ceil_div(N / 8, 256)) block(256) args(x, y, N)
//! when    true
//! launch  gelu<1> grid(ceil_div(N, 256)) block(256) args(x, y, N)
#include <cuda_fp16.h>

template <int kVec>
struct alignas(kVec * sizeof(__half)) Pack {
  __half values[kVec];
};

template <int kVec>
__global__ void gelu(const __half* x, __half* y, long long n) {
  const long long at = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (at * kVec >= n) return;
  const Pack<kVec> px = reinterpret_cast<const Pack<kVec>*>(x)[at];
  Pack<kVec> out;
  for (int k = 0; k < kVec; ++k) {
    const float v = __half2float(px.values[k]);
    out.values[k] = __float2half(0.5f * v * (1.0f + erff(v * 0.70710678f)));
  }
  reinterpret_cast<Pack<kVec>*>(y)[at] = out;
}
