//! kernelwright 1
//! task    integers
//! input   x: int32[N]
//! input   y: int32[N]
//! output  out0: int32[N]
//! output  out1: int32[N]
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
//! launch  integers<int, VEC> grid(ceil_div(N, THREADS * UNROLL * VEC)) block(THREADS) args(x, y, out0, out1, N)
//! when    N <= 2000000000
//! launch  integers<int, 1> grid(ceil_div(N, THREADS * UNROLL)) block(THREADS) args(x, y, out0, out1, N)
//! when    true
//! launch  integers<long long, 1> grid(ceil_div(N, THREADS * UNROLL)) block(THREADS) args(x, y, out0, out1, N)

// Generated for task integers: integers=pointwise.

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

// Python's %: the result has the divisor's sign.
template <typename T>
__device__ __forceinline__ T floor_remainder(T a, T b) {
  const T left = a % b;
  return left != 0 && (left < 0) != (b < 0) ? left + b : left;
}
__device__ __forceinline__ float floor_remainder(float a, float b) {
  const float left = fmodf(a, b);
  return left != 0.0f && (left < 0.0f) != (b < 0.0f) ? left + b : left;
}
__device__ __forceinline__ double floor_remainder(double a, double b) {
  const double left = fmod(a, b);
  return left != 0.0 && (left < 0.0) != (b < 0.0) ? left + b : left;
}

// Python's //: the quotient rounded down.
template <typename T>
__device__ __forceinline__ T floor_quotient(T a, T b) {
  const T whole = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? whole - 1 : whole;
}
template <typename T>
__device__ __forceinline__ T floor_quotient_of_floats(T a, T b, T left) {
  if (b == T(0)) return a / b;
  T whole = (a - left) / b;
  if (left != T(0) && (left < T(0)) != (b < T(0))) whole -= T(1);
  if (whole == T(0)) return copysign(T(0), a / b);
  const T down = floor(whole);
  return whole - down > T(0.5) ? down + T(1) : down;
}
__device__ __forceinline__ float floor_quotient(float a, float b) {
  return floor_quotient_of_floats(a, b, fmodf(a, b));
}
__device__ __forceinline__ double floor_quotient(double a, double b) {
  return floor_quotient_of_floats(a, b, fmod(a, b));
}

// out0, out1: every thread computes UNROLL packs of kVec elements.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) integers(const int* __restrict__ x,
                                                    const int* __restrict__ y,
                                                    int* __restrict__ out0,
                                                    int* __restrict__ out1, Index N) {
  const Index count = N;
  const Index first = static_cast<Index>(blockIdx.x) * (THREADS * UNROLL * kVec) +
      threadIdx.x * kVec;
  Pack<int, kVec> x_pack[UNROLL];
  Pack<int, kVec> y_pack[UNROLL];
  #pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const Index i = first + u * (THREADS * kVec);
    if (i < count) {
      x_pack[u] = load_pack<kVec>(x + i);
      y_pack[u] = load_pack<kVec>(y + i);
    }
  }
  #pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const Index i = first + u * (THREADS * kVec);
    if (i < count) {
      Pack<int, kVec> out0_pack;
      Pack<int, kVec> out1_pack;
      #pragma unroll
      for (int lane = 0; lane < kVec; ++lane) {
        const int x_value = x_pack[u].at[lane];
        out0_pack.at[lane] = floor_quotient(x_value, 3) ^ y_pack[u].at[lane];
        out1_pack.at[lane] = floor_remainder(x_value, 7);
      }
      store_pack(out0 + i, out0_pack);
      store_pack(out1 + i, out1_pack);
    }
  }
}
