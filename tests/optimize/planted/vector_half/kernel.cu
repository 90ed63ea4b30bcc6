// A narrow type loaded sixteen bytes at a time: without it, two bytes per access.
//! kernelwright 1
//! task    vector_half
//! input   x: fp16[N]
//! output  y: fp16[N]
//! tune    VEC in 8, 1
//! method  memory.vectorized_access when VEC > 1, off VEC=1
//! when    N % VEC == 0
//! launch  scale grid(ceil_div(N, 256 * VEC)) block(256) args(x, y, N)
//! when    true
//! launch  scale_any grid(ceil_div(N, 256)) block(256) args(x, y, N)
#include <cuda_fp16.h>

struct alignas(sizeof(__half) * VEC) Pack {
  __half item[VEC];
};

__global__ void scale(const __half* x, __half* y, long long n) {
  const long long i = (static_cast<long long>(blockIdx.x) * 256 + threadIdx.x) * VEC;
  if (i >= n) return;
  Pack pack = *reinterpret_cast<const Pack*>(x + i);
  for (int k = 0; k < VEC; ++k) pack.item[k] = __hmul(pack.item[k], __float2half(3.0f));
  *reinterpret_cast<Pack*>(y + i) = pack;
}

__global__ void scale_any(const __half* x, __half* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i < n) y[i] = __hmul(x[i], __float2half(3.0f));
}
