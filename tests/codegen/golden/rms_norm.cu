//! kernelwright 1
//! task    rms_norm
//! input   x: fp16[B, D]
//! input   weight: fp16[D]
//! output  out0: fp16[B, D]
//! scalar  eps: fp64 = 1e-05
//! let     PACKS = ceil_div(D, THREADS * VEC)
//! let     PACKS_ITEMS = 1 + (PACKS > 1) + (PACKS > 2) + (PACKS > 3) + 2 * (PACKS > 4) + 2 * (PACKS > 6) + 4 * (PACKS > 8) + 4 * (PACKS > 12)
//! let     SINGLES = ceil_div(D, THREADS)
//! let     SINGLES_ITEMS = 1 + (SINGLES > 1) + (SINGLES > 2) + (SINGLES > 3) + 2 * (SINGLES > 4) + 2 * (SINGLES > 6) + 4 * (SINGLES > 8) + 4 * (SINGLES > 12)
//! let     WHOLE = D == THREADS * VEC * PACKS_ITEMS
//! let     eps_value: fp32 = eps
//! tune    THREADS in 128, 256, 64, 512
//! tune    VEC in 8, 1
//! tune    REGISTERS in 1, 0
//! tune    STREAM in 0, 1
//! method  memory.vectorized_access when VEC > 1, off VEC=1
//! method  compute.ilp_unroll_register_tile when REGISTERS == 1, off REGISTERS=0
//! method  compute.reduction
//! method  compute.warp_shuffle
//! method  memory.coalesced_access
//! method  memory.kernel_fusion
//! method  memory.ldg_cache_modifier_hint when STREAM == 1, off STREAM=0
//! when    D % VEC == 0 && B * D <= 2000000000 && B <= 2000000000 && D <= 2000000000 && REGISTERS == 1 && PACKS <= 8
//! launch  rms_norm<int, VEC, PACKS_ITEMS, WHOLE> grid(B) block(THREADS) args(x, weight, out0, D, eps_value)
//! when    B * D <= 2000000000 && B <= 2000000000 && D <= 2000000000 && REGISTERS == 1 && SINGLES <= 16
//! launch  rms_norm<int, 1, SINGLES_ITEMS, 0> grid(B) block(THREADS) args(x, weight, out0, D, eps_value)
//! when    D % VEC == 0 && B * D <= 2000000000 && B <= 2000000000 && D <= 2000000000
//! launch  rms_norm_long<int, VEC> grid(min(B, 2147483647)) block(THREADS) args(x, weight, out0, B, D, eps_value)
//! when    true
//! launch  rms_norm_long<long long, 1> grid(min(B, 2147483647)) block(THREADS) args(x, weight, out0, B, D, eps_value)

// Generated for task rms_norm: rms_norm=block_per_row.
#include <cuda_fp16.h>

// Neighbouring elements that are loaded and stored as one word.
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16) Pack {
  T at[kCount];
};

// The unsigned word, or words, of that many bytes.
template <int kBytes>
struct WordOf {
  using Type = uint4;
};
template <>
struct WordOf<8> {
  using Type = uint2;
};
template <>
struct WordOf<4> {
  using Type = unsigned int;
};
template <>
struct WordOf<2> {
  using Type = unsigned short;
};
template <>
struct WordOf<1> {
  using Type = unsigned char;
};

template <int kCount, typename T>
__device__ __forceinline__ Pack<T, kCount> load_pack(const T* from) {
  constexpr int kBytes = sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16;
  using Word = typename WordOf<kBytes>::Type;
  Pack<T, kCount> pack;
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(pack) / kBytes); ++i) {
    const Word* at = reinterpret_cast<const Word*>(from) + i;
    const Word word = *at;
    memcpy(reinterpret_cast<char*>(&pack) + i * kBytes, &word, kBytes);
  }
  return pack;
}

// For what is read once only: with STREAM it does not push anything else out of the caches.
template <int kCount, typename T>
__device__ __forceinline__ Pack<T, kCount> load_once(const T* from) {
  constexpr int kBytes = sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16;
  using Word = typename WordOf<kBytes>::Type;
  Pack<T, kCount> pack;
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(pack) / kBytes); ++i) {
    const Word* at = reinterpret_cast<const Word*>(from) + i;
    const Word word = STREAM ? __ldcs(at) : *at;
    memcpy(reinterpret_cast<char*>(&pack) + i * kBytes, &word, kBytes);
  }
  return pack;
}

// Streaming data is not read again soon, so it should not push anything else out of the caches.
template <typename T, int kCount>
__device__ __forceinline__ void store_pack(T* to, const Pack<T, kCount>& pack) {
  constexpr int kBytes = sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16;
  using Word = typename WordOf<kBytes>::Type;
#pragma unroll
  for (int i = 0; i < static_cast<int>(sizeof(pack) / kBytes); ++i) {
    Word word;
    memcpy(&word, reinterpret_cast<const char*>(&pack) + i * kBytes, kBytes);
    Word* at = reinterpret_cast<Word*>(to) + i;
    if (STREAM) {
      __stcs(at, word);
    } else {
      *at = word;
    }
  }
}

struct Add {
  template <typename T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a + b;
  }
};

// Joins the values of kLanes neighbouring lanes; all of them get the result.
template <int kLanes, typename T, typename Join>
__device__ __forceinline__ T reduce_lanes(T value, Join join) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    value = join(value, __shfl_xor_sync(0xffffffffu, value, offset));
  }
  return value;
}

// Joins the values of all threads; all of them get the result. `slots` is used once only.
template <int kThreads, typename T, typename Join>
__device__ __forceinline__ T reduce_block(T value, Join join, T* slots) {
  value = reduce_lanes<32>(value, join);
  if (kThreads == 32) return value;
  if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = value;
  __syncthreads();
  value = slots[0];
#pragma unroll
  for (int warp = 1; warp < kThreads / 32; ++warp) value = join(value, slots[warp]);
  return value;
}

// out0: one block per row, which is read once, kept in registers.
template <typename Index, int kVec, int kItems, bool kWhole>
__global__ void __launch_bounds__(THREADS) rms_norm(const __half* __restrict__ x,
                                                    const __half* __restrict__ weight,
                                                    __half* __restrict__ out0, Index D,
                                                    float eps_value) {
  __shared__ float row_sum_slots[THREADS / 32];
  const int thread = threadIdx.x;
  const Index row = blockIdx.x;
  Pack<__half, kVec> x_pack[kItems];
  #pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const Index column = (item * THREADS + thread) * kVec;
    if ((kWhole || column < D)) {
      x_pack[item] = load_once<kVec>(x + D * row + column);
    }
  }
  float row_sum = 0.0f;
  #pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const Index column = (item * THREADS + thread) * kVec;
    if ((kWhole || column < D)) {
      #pragma unroll
      for (int lane = 0; lane < kVec; ++lane) {
        const float x_value = __half2float(x_pack[item].at[lane]);
        row_sum += x_value * x_value;
      }
    }
  }
  row_sum = reduce_block<THREADS>(row_sum, Add(), row_sum_slots);
  const float rsqrt_value = rsqrtf((row_sum / static_cast<float>(D)) + eps_value);
  #pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const Index column = (item * THREADS + thread) * kVec;
    if ((kWhole || column < D)) {
      const Pack<__half, kVec> weight_pack = load_pack<kVec>(weight + column);
      Pack<__half, kVec> out0_pack;
      #pragma unroll
      for (int lane = 0; lane < kVec; ++lane) {
        const float x_value_2 = __half2float(x_pack[item].at[lane]);
        const float weight_value = __half2float(weight_pack.at[lane]);
        const float product = __half2float(__float2half(x_value_2 * rsqrt_value)) * weight_value;
        out0_pack.at[lane] = __float2half(product);
      }
      store_pack(out0 + D * row + column, out0_pack);
    }
  }
}

// out0: one block per row, which is read again in every pass.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) rms_norm_long(const __half* __restrict__ x,
                                                         const __half* __restrict__ weight,
                                                         __half* __restrict__ out0, Index B,
                                                         Index D, float eps_value) {
  __shared__ float row_sum_slots[THREADS / 32];
  const int thread = threadIdx.x;
  for (Index row = blockIdx.x; row < B; row += gridDim.x) {
    float row_sum = 0.0f;
    #pragma unroll 4
    for (Index column = thread * kVec; column < D; column += THREADS * kVec) {
      const Pack<__half, kVec> x_pack = load_pack<kVec>(x + D * row + column);
      #pragma unroll
      for (int lane = 0; lane < kVec; ++lane) {
        const float x_value = __half2float(x_pack.at[lane]);
        row_sum += x_value * x_value;
      }
    }
    row_sum = reduce_block<THREADS>(row_sum, Add(), row_sum_slots);
    const float rsqrt_value = rsqrtf((row_sum / static_cast<float>(D)) + eps_value);
    #pragma unroll 4
    for (Index column = thread * kVec; column < D; column += THREADS * kVec) {
      const Pack<__half, kVec> x_pack = load_pack<kVec>(x + D * row + column);
      const Pack<__half, kVec> weight_pack = load_pack<kVec>(weight + column);
      Pack<__half, kVec> out0_pack;
      #pragma unroll
      for (int lane = 0; lane < kVec; ++lane) {
        const float x_value_2 = __half2float(x_pack.at[lane]);
        const float weight_value = __half2float(weight_pack.at[lane]);
        const float product = __half2float(__float2half(x_value_2 * rsqrt_value)) * weight_value;
        out0_pack.at[lane] = __float2half(product);
      }
      store_pack(out0 + D * row + column, out0_pack);
    }
    __syncthreads();
  }
}
