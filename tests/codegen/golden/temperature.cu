//! kernelwright 1
//! task    temperature
//! input   x: fp32[B, D]
//! output  out0: fp32[B, D]
//! tune    FAST_MATH in 1, 0
//! tune    THREADS in 256, 128, 1024
//! tune    VEC in 4, 1
//! tune    UNROLL in 1, 4
//! tune    STREAM in 0, 1
//! method  memory.vectorized_access when VEC > 1, off VEC=1
//! method  compute.ilp_unroll_register_tile when UNROLL > 1, off UNROLL=1
//! method  memory.coalesced_access
//! method  memory.kernel_fusion
//! method  memory.ldg_cache_modifier_hint when STREAM == 1, off STREAM=0
//! method  compute.fma_and_fast_math when FAST_MATH == 1, off FAST_MATH=0
//! when    (B * D) % VEC == 0 && B * D <= 2000000000
//! launch  temperature<int, VEC> grid(ceil_div(B * D, THREADS * UNROLL * VEC)) block(THREADS) args(x, out0, B, D)
//! when    B * D <= 2000000000
//! launch  temperature<int, 1> grid(ceil_div(B * D, THREADS * UNROLL)) block(THREADS) args(x, out0, B, D)
//! when    true
//! launch  temperature<long long, 1> grid(ceil_div(B * D, THREADS * UNROLL)) block(THREADS) args(x, out0, B, D)

// Generated for task temperature: temperature=pointwise.

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

__device__ __forceinline__ float exp2_approx(float x) {
  float y;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float fast_exp(float x) {
  return FAST_MATH ? exp2_approx(x * 1.44269504f) : expf(x);
}

// out0: every thread computes UNROLL packs of kVec elements.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) temperature(const float* __restrict__ x,
                                                       float* __restrict__ out0, Index B, Index D) {
  const Index count = B * D;
  const Index first = static_cast<Index>(blockIdx.x) * (THREADS * UNROLL * kVec) +
      threadIdx.x * kVec;
  Pack<float, kVec> x_pack[UNROLL];
  #pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const Index i = first + u * (THREADS * kVec);
    if (i < count) {
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
        out0_pack.at[lane] = fast_exp(x_pack[u].at[lane] * 10.0f);
      }
      store_pack(out0 + i, out0_pack);
    }
  }
}
