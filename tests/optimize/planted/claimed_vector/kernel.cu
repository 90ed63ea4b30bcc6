// Claims wide accesses; the tunable is not used at all.
//! kernelwright 1
//! task    claimed_vector
//! input   x: fp16[N]
//! output  y: fp16[N]
//! tune    VEC in 4, 1
//! method  memory.vectorized_access when VEC > 1, off VEC=1
//! launch  scale grid(ceil_div(N, 256)) block(256) args(x, y, N)
#include <cuda_fp16.h>

__global__ void scale(const __half* x, __half* y, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (i < n) y[i] = __hmul(x[i], __float2half(3.0f));
}
