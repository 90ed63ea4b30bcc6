//! kernelwright 1
//! task    rms_norm
//! input   x: fp16[B, D]
//! scalar  eps: fp32 = 1e-5
//! output  y: fp16[B, D]
//! tune    THREADS in 128, 256, 512
//! tune    VEC in 8, 2, 1
//! method  memory.vectorized_access when VEC > 1, off VEC=1
//! when    D % VEC == 0
//! launch  rms_norm<THREADS, VEC> grid(B) block(THREADS) args(x, y, D, eps)
//! when    true
//! launch  rms_norm<THREADS, 1> grid(B) block(THREADS) args(x, y, D, eps)

// y[b, :] = x[b, :] / sqrt(mean(x[b, :]^2) + eps), one block per row.
// A copy of rms_norm.cu with one seeded bug, for the demonstration: the bound of the second loop is off by one.
#include <cuda_fp16.h>

template <int kVec>
struct alignas(kVec * sizeof(__half)) Pack {
  __half values[kVec];
};

template <int kThreads>
__device__ float block_sum(float value) {
  static_assert(kThreads % 32 == 0 && kThreads <= 1024, "whole warps");
  __shared__ float warp_sums[kThreads / 32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_down_sync(0xffffffffu, value, offset);
  }
  if (lane == 0) warp_sums[warp] = value;
  __syncthreads();
  float total = 0.0f;
  for (int i = 0; i < kThreads / 32; ++i) total += warp_sums[i];
  return total;
}

template <int kThreads, int kVec>
__global__ void rms_norm(const __half* x, __half* y, int D, float eps) {
  const size_t row = static_cast<size_t>(blockIdx.x) * D;
  const auto* in = reinterpret_cast<const Pack<kVec>*>(x + row);
  auto* out = reinterpret_cast<Pack<kVec>*>(y + row);
  const int packs = D / kVec;

  float sum = 0.0f;
  for (int i = threadIdx.x; i < packs; i += kThreads) {
    const Pack<kVec> pack = in[i];
    for (int k = 0; k < kVec; ++k) {
      const float value = __half2float(pack.values[k]);
      sum += value * value;
    }
  }
  const float scale = rsqrtf(block_sum<kThreads>(sum) / D + eps);

  for (int i = threadIdx.x; i <= packs; i += kThreads) {
    Pack<kVec> pack = in[i];
    for (int k = 0; k < kVec; ++k) {
      pack.values[k] = __float2half(__half2float(pack.values[k]) * scale);
    }
    out[i] = pack;
  }
}
