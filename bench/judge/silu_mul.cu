//! kernelwright 1
//! task    silu_mul
//! input   gate: bf16[N]
//! input   up: bf16[N]
//! output  y: bf16[N]
//! when    N % 8 == 0
//! launch  silu_mul<8> grid(ceil_div(N / 8, 256)) block(256) args(gate, up, y, N)
//! when    true
//! launch  silu_mul<1> grid(ceil_div(N, 256)) block(256) args(gate, up, y, N)
#include <cuda_bf16.h>

template <int kVec>
struct alignas(kVec * sizeof(__nv_bfloat16)) Pack {
  __nv_bfloat16 values[kVec];
};

template <int kVec>
__global__ void silu_mul(const __nv_bfloat16* gate, const __nv_bfloat16* up, __nv_bfloat16* y, long long n) {
  const long long at = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (at * kVec >= n) return;
  const Pack<kVec> pgate = reinterpret_cast<const Pack<kVec>*>(gate)[at];
  const Pack<kVec> pup = reinterpret_cast<const Pack<kVec>*>(up)[at];
  Pack<kVec> out;
  for (int k = 0; k < kVec; ++k) {
    const float g = __bfloat162float(pgate.values[k]);
    const float gated = g / (1.0f + __expf(-g));
    out.values[k] = __float2bfloat16(gated * __bfloat162float(pup.values[k]));
  }
  reinterpret_cast<Pack<kVec>*>(y)[at] = out;
}
