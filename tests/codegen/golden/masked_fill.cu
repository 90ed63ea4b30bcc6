//! kernelwright 1
//! task    masked_fill
//! input   x: fp32[B, D]
//! input   mask: bool[B, D]
//! output  out0: fp32[B, D]
//! tune    THREADS in 256, 128, 1024
//! tune    VEC in 16, 4, 1
//! tune    UNROLL in 1, 2, 4
//! tune    STREAM in 0, 1
//! method  memory.vectorized_access when VEC > 1, off VEC=1
//! method  compute.ilp_unroll_register_tile when UNROLL > 1, off UNROLL=1
//! method  memory.coalesced_access
//! method  memory.kernel_fusion
//! method  memory.ldg_cache_modifier_hint when STREAM == 1, off STREAM=0
//! when    (B * D) % VEC == 0 && B * D <= 2000000000
//! launch  masked_fill<int, VEC> grid(ceil_div(B * D, THREADS * UNROLL * VEC)) block(THREADS) args(x, mask, out0, B, D)
//! when    B * D <= 2000000000
//! launch  masked_fill<int, 1> grid(ceil_div(B * D, THREADS * UNROLL)) block(THREADS) args(x, mask, out0, B, D)
//! when    true
//! launch  masked_fill<long long, 1> grid(ceil_div(B * D, THREADS * UNROLL)) block(THREADS) args(x, mask, out0, B, D)

// Generated for task masked_fill: masked_fill=pointwise.

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
__global__ void __launch_bounds__(THREADS) masked_fill(const float* __restrict__ x,
                                                       const unsigned char* __restrict__ mask,
                                                       float* __restrict__ out0, Index B, Index D) {
  const Index count = B * D;
  const Index first = static_cast<Index>(blockIdx.x) * (THREADS * UNROLL * kVec) +
      threadIdx.x * kVec;
  Pack<unsigned char, kVec> mask_pack[UNROLL];
  Pack<float, kVec> x_pack[UNROLL];
  #pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const Index i = first + u * (THREADS * kVec);
    if (i < count) {
      mask_pack[u] = load_pack<kVec>(mask + i);
      x_pack[u] = load_pack<kVec>(x + i);
    }
  }
  #pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const Index i = first + u * (THREADS * kVec);
    if (i < count) {
      Pack<float, kVec> out0_pack;
      #pragma unroll
      for (int lane = 0; lane < kVec; ++lane) {
        const float choice = (mask_pack[u].at[lane] != 0) ? -__int_as_float(0x7f800000) :
            x_pack[u].at[lane];
        out0_pack.at[lane] = choice;
      }
      store_pack(out0 + i, out0_pack);
    }
  }
}
