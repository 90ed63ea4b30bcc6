//! kernelwright 1
//! task    rms_norm
//! input   x: fp16[B, D]
//! input   weight: fp16[D]
//! scalar  eps: fp32 = 1e-5
//! output  y: fp16[B, D]
//! tune    THREADS in 64, 256
//! tune    VEC in 8, 2, 1
//! method  memory.vectorized_access when VEC > 1, off VEC=1
//! when    D % VEC == 0
//! launch  rms_norm<THREADS, VEC> grid(B) block(THREADS) args(x, weight, y, D, eps)
//! when    true
//! launch  rms_norm<THREADS, 1> grid(B) block(THREADS) args(x, weight, y, D, eps)
#include <cuda_fp16.h>

template <int kVec>
struct alignas(2 * kVec) Halves {
  __half v[kVec];
};

template <int kThreads, int kVec>
__global__ void rms_norm(const __half* x, const __half* weight, __half* y, int D, float eps) {
  __shared__ float slots[kThreads / 32];
  using H = Halves<kVec>;
  const H* in = reinterpret_cast<const H*>(x + (size_t)blockIdx.x * D);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < D / kVec; i += kThreads) {
    H h = in[i];
#pragma unroll
    for (int k = 0; k < kVec; ++k) sum = fmaf(__half2float(h.v[k]), __half2float(h.v[k]), sum);
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int w = 0; w < kThreads / 32; ++w) sum += slots[w];
  float scale = rsqrtf(sum / D + eps);
  for (int i = threadIdx.x; i < D / kVec; i += kThreads) {
    H h = in[i];
    H w = reinterpret_cast<const H*>(weight)[i];
#pragma unroll
    for (int k = 0; k < kVec; ++k) h.v[k] = __float2half_rn(__half2float(h.v[k]) * scale * __half2float(w.v[k]));
    reinterpret_cast<H*>(y + (size_t)blockIdx.x * D)[i] = h;
  }
}
