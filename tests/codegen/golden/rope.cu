//! kernelwright 1
//! task    rope
//! input   x: fp16[B, S, 64]
//! input   cos_: fp32[S, 32]
//! input   sin_: fp32[S, 32]
//! output  out0: fp16[B, S, 64]
//! tune    THREADS in 256, 128, 512, 1024
//! tune    VEC in 8, 1
//! tune    UNROLL in 1, 2, 4
//! tune    STREAM in 0, 1
//! method  memory.vectorized_access when VEC > 1, off VEC=1
//! method  compute.ilp_unroll_register_tile when UNROLL > 1, off UNROLL=1
//! method  memory.coalesced_access
//! method  memory.kernel_fusion
//! method  memory.ldg_cache_modifier_hint when STREAM == 1, off STREAM=0
//! when    (64 * S) % VEC == 0 && 64 % VEC == 0 && 64 * B * S <= 2000000000 && 32 * B * S <= 2000000000 && 32 * S <= 2000000000
//! launch  rope<int, VEC> grid(ceil_div(64 * B * S, THREADS * UNROLL * VEC)) block(THREADS) args(x, cos_, sin_, out0, B, S)
//! when    64 * B * S <= 2000000000 && 32 * B * S <= 2000000000 && 32 * S <= 2000000000
//! launch  rope<int, 1> grid(ceil_div(64 * B * S, THREADS * UNROLL)) block(THREADS) args(x, cos_, sin_, out0, B, S)
//! when    true
//! launch  rope<long long, 1> grid(ceil_div(64 * B * S, THREADS * UNROLL)) block(THREADS) args(x, cos_, sin_, out0, B, S)

// Generated for task rope: rope=pointwise.
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

// out0: every thread computes UNROLL packs of kVec elements.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) rope(const __half* __restrict__ x,
                                                const float* __restrict__ cos_,
                                                const float* __restrict__ sin_,
                                                __half* __restrict__ out0, Index B, Index S) {
  const Index count = 64 * B * S;
  const Index first = static_cast<Index>(blockIdx.x) * (THREADS * UNROLL * kVec) +
      threadIdx.x * kVec;
  #pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const Index i = first + u * (THREADS * kVec);
    if (i < count) {
      const Index column = i % 64;
      const Index row = i / 64 % S;
      const Index row2 = i / 64 / S;
      Pack<__half, kVec> out0_pack;
      #pragma unroll
      for (int lane = 0; lane < kVec; ++lane) {
        const bool inside = column + lane < 32;
        const float x_value = inside ? __half2float(x[64 * S * row2 + column + lane + 64 * row]) :
            0.0f;
        const float cos__value = inside ? cos_[column + lane + 32 * row] : 0.0f;
        const float x_value_2 = inside ?
            __half2float(x[64 * S * row2 + column + lane + 64 * row + 32]) : 0.0f;
        const float sin__value = inside ? sin_[column + lane + 32 * row] : 0.0f;
        const bool inside_2 = column + lane >= 32 && column + lane < 64;
        const float x_value_3 = inside_2 ?
            __half2float(x[64 * S * row2 + column + lane + 64 * row - 32]) : 0.0f;
        const float sin__value_2 = inside_2 ? sin_[column + lane + 32 * row - 32] : 0.0f;
        const float x_value_4 = inside_2 ?
            __half2float(x[64 * S * row2 + column + lane + 64 * row]) : 0.0f;
        const float cos__value_2 = inside_2 ? cos_[column + lane + 32 * row - 32] : 0.0f;
        const float difference = inside ? ((x_value * cos__value) - (x_value_2 * sin__value)) :
            (inside_2 ? ((x_value_3 * sin__value_2) + (x_value_4 * cos__value_2)) : 0.0f);
        out0_pack.at[lane] = __float2half(difference);
      }
      store_pack(out0 + i, out0_pack);
    }
  }
}
