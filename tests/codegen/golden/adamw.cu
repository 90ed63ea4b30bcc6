//! kernelwright 1
//! task    adamw
//! inout   p: fp32[N]
//! input   g: fp32[N]
//! inout   m: fp32[N]
//! inout   v: fp32[N]
//! scalar  lr: fp64 = 0.001
//! scalar  beta1: fp64 = 0.9
//! scalar  step: int64 = 10
//! let     NUMBER_: fp32 = (-lr) / (1 - pow(beta1, step))
//! let     NUMBER: fp32 = 1 - beta1
//! let     beta1_value: fp32 = beta1
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
//! when    N % VEC == 0 && N <= 2000000000
//! launch  adamw<int, VEC> grid(ceil_div(N, THREADS * UNROLL * VEC)) block(THREADS) args(p, m, v, g, N, NUMBER, NUMBER_, beta1_value)
//! when    N <= 2000000000
//! launch  adamw<int, 1> grid(ceil_div(N, THREADS * UNROLL)) block(THREADS) args(p, m, v, g, N, NUMBER, NUMBER_, beta1_value)
//! when    true
//! launch  adamw<long long, 1> grid(ceil_div(N, THREADS * UNROLL)) block(THREADS) args(p, m, v, g, N, NUMBER, NUMBER_, beta1_value)

// Generated for task adamw: adamw=pointwise.

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

__device__ __forceinline__ float reciprocal_flushed(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// A divisor without a normal reciprocal is brought nearer to 1 first.
__device__ __forceinline__ float fast_divide(float x, float by) {
  if (!FAST_MATH) return x / by;
  const float scale = fabsf(by) > 0x1p125f ? 0x1p-64f : fabsf(by) < 0x1p-125f ? 0x1p64f : 1.0f;
  return x * scale * reciprocal_flushed(by * scale);
}

// p, m, v: every thread computes UNROLL packs of kVec elements.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) adamw(float* p, float* m, float* v,
                                                 const float* __restrict__ g, Index N,
                                                 float NUMBER, float NUMBER_, float beta1_value) {
  const Index count = N;
  const Index first = static_cast<Index>(blockIdx.x) * (THREADS * UNROLL * kVec) +
      threadIdx.x * kVec;
  Pack<float, kVec> p_pack[UNROLL];
  Pack<float, kVec> m_pack[UNROLL];
  Pack<float, kVec> g_pack[UNROLL];
  Pack<float, kVec> v_pack[UNROLL];
  #pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const Index i = first + u * (THREADS * kVec);
    if (i < count) {
      p_pack[u] = load_pack<kVec>(p + i);
      m_pack[u] = load_pack<kVec>(m + i);
      g_pack[u] = load_pack<kVec>(g + i);
      v_pack[u] = load_pack<kVec>(v + i);
    }
  }
  #pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const Index i = first + u * (THREADS * kVec);
    if (i < count) {
      Pack<float, kVec> p_pack_2;
      Pack<float, kVec> m_pack_2;
      Pack<float, kVec> v_pack_2;
      #pragma unroll
      for (int lane = 0; lane < kVec; ++lane) {
        const float g_value = g_pack[u].at[lane];
        const float sum = (m_pack[u].at[lane] * beta1_value) + (g_value * NUMBER);
        const float sum_2 = (v_pack[u].at[lane] * 0.999f) + ((g_value * g_value) * 0.001f);
        const float sum_3 = p_pack[u].at[lane] +
            ((fast_divide(sum, (sqrtf(fabsf(sum_2)) + 1e-08f))) * NUMBER_);
        p_pack_2.at[lane] = sum_3;
        m_pack_2.at[lane] = sum;
        v_pack_2.at[lane] = sum_2;
      }
      store_pack(p + i, p_pack_2);
      store_pack(m + i, m_pack_2);
      store_pack(v + i, v_pack_2);
    }
  }
}
