//! kernelwright 1
//! task    sgd
//! inout   p: fp32[N]
//! input   g: fp32[N]
//! inout   m: fp32[N]
//! tune    THREADS in 256, 128, 512, 1024
//! tune    VEC in 4, 1
//! tune    UNROLL in 1, 2, 4
//! tune    STREAM in 0, 1
//! method  memory.vectorized_access when VEC > 1, off VEC=1
//! method  compute.ilp_unroll_register_tile when UNROLL > 1, off UNROLL=1
//! method  memory.coalesced_access
//! method  memory.kernel_fusion
//! method  memory.ldg_cache_modifier_hint when STREAM == 1, off STREAM=0
//! when    N % VEC == 0 && N <= 2000000000
//! launch  sgd<int, VEC> grid(ceil_div(N, THREADS * UNROLL * VEC)) block(THREADS) args(p, m, g, N)
//! when    N <= 2000000000
//! launch  sgd<int, 1> grid(ceil_div(N, THREADS * UNROLL)) block(THREADS) args(p, m, g, N)
//! when    true
//! launch  sgd<long long, 1> grid(ceil_div(N, THREADS * UNROLL)) block(THREADS) args(p, m, g, N)

// Generated for task sgd: sgd=pointwise.

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

// p, m: every thread computes UNROLL packs of kVec elements.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) sgd(float* p, float* m, const float* __restrict__ g,
                                               Index N) {
  const Index count = N;
  const Index first = static_cast<Index>(blockIdx.x) * (THREADS * UNROLL * kVec) +
      threadIdx.x * kVec;
  Pack<float, kVec> p_pack[UNROLL];
  Pack<float, kVec> m_pack[UNROLL];
  Pack<float, kVec> g_pack[UNROLL];
  #pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const Index i = first + u * (THREADS * kVec);
    if (i < count) {
      p_pack[u] = load_pack<kVec>(p + i);
      m_pack[u] = load_pack<kVec>(m + i);
      g_pack[u] = load_pack<kVec>(g + i);
    }
  }
  #pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const Index i = first + u * (THREADS * kVec);
    if (i < count) {
      Pack<float, kVec> p_pack_2;
      Pack<float, kVec> m_pack_2;
      #pragma unroll
      for (int lane = 0; lane < kVec; ++lane) {
        const float sum = (m_pack[u].at[lane] * 0.9f) + g_pack[u].at[lane];
        p_pack_2.at[lane] = p_pack[u].at[lane] - (0.01f * sum);
        m_pack_2.at[lane] = sum;
      }
      store_pack(p + i, p_pack_2);
      store_pack(m + i, m_pack_2);
    }
  }
}
