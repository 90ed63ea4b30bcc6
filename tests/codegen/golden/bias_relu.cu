//! kernelwright 1
//! task    bias_relu
//! input   x: fp32[B, S, D]
//! input   bias: fp32[D]
//! output  out0: fp32[B, S, D]
//! tune    THREADS in 256, 128, 512, 1024
//! tune    VEC in 4, 1
//! tune    UNROLL in 1, 2, 4
//! tune    STREAM in 0, 1
//! method  memory.vectorized_access when VEC > 1, off VEC=1
//! method  compute.ilp_unroll_register_tile when UNROLL > 1, off UNROLL=1
//! method  memory.coalesced_access
//! method  memory.kernel_fusion
//! method  memory.ldg_cache_modifier_hint when STREAM == 1, off STREAM=0
//! when    D % VEC == 0 && B * D * S <= 2000000000 && D <= 2000000000
//! launch  bias_relu<int, VEC> grid(ceil_div(B * D * S, THREADS * UNROLL * VEC)) block(THREADS) args(x, bias, out0, B, D, S)
//! when    B * D * S <= 2000000000 && D <= 2000000000
//! launch  bias_relu<int, 1> grid(ceil_div(B * D * S, THREADS * UNROLL)) block(THREADS) args(x, bias, out0, B, D, S)
//! when    true
//! launch  bias_relu<long long, 1> grid(ceil_div(B * D * S, THREADS * UNROLL)) block(THREADS) args(x, bias, out0, B, D, S)

// Generated for task bias_relu: bias_relu=pointwise.

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

// The larger one; NaN wins.
template <typename T>
__device__ __forceinline__ T max_nan(T a, T b) {
  return a > b || a != a ? a : b;
}
#if __CUDA_ARCH__ >= 800
__device__ __forceinline__ float max_nan(float a, float b) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
  return larger;
}
#endif

// out0: every thread computes UNROLL packs of kVec elements.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) bias_relu(const float* __restrict__ x,
                                                     const float* __restrict__ bias,
                                                     float* __restrict__ out0, Index B, Index D,
                                                     Index S) {
  const Index count = B * D * S;
  const Index first = static_cast<Index>(blockIdx.x) * (THREADS * UNROLL * kVec) +
      threadIdx.x * kVec;
  Pack<float, kVec> x_pack[UNROLL];
  Pack<float, kVec> bias_pack[UNROLL];
  #pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const Index i = first + u * (THREADS * kVec);
    if (i < count) {
      const Index column = i % D;
      const Index row = i / D;
      x_pack[u] = load_pack<kVec>(x + i);
      bias_pack[u] = load_pack<kVec>(bias + column);
    }
  }
  #pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const Index i = first + u * (THREADS * kVec);
    if (i < count) {
      const Index column = i % D;
      const Index row = i / D;
      Pack<float, kVec> out0_pack;
      #pragma unroll
      for (int lane = 0; lane < kVec; ++lane) {
        out0_pack.at[lane] = max_nan(x_pack[u].at[lane] + bias_pack[u].at[lane], 0.0f);
      }
      store_pack(out0 + i, out0_pack);
    }
  }
}
