//! kernelwright 1
//! task    written_then_read
//! inout   cache: fp32[S, D]
//! input   rows_: fp32[T, D]
//! input   slot_: int64[T]
//! output  out0: fp32[S]
//! scratch cache_next: fp32[S, D]
//! scratch written_then_read_found: uint64[D * S] = 0
//! let     PACKS_2 = ceil_div(D, THREADS_2 * VEC_2)
//! let     PACKS_2_ITEMS = 1 + (PACKS_2 > 1) + (PACKS_2 > 2) + (PACKS_2 > 3) + 2 * (PACKS_2 > 4) + 2 * (PACKS_2 > 6) + 4 * (PACKS_2 > 8) + 4 * (PACKS_2 > 12)
//! let     SINGLES_2 = ceil_div(D, THREADS_2)
//! let     SINGLES_2_ITEMS = 1 + (SINGLES_2 > 1) + (SINGLES_2 > 2) + (SINGLES_2 > 3) + 2 * (SINGLES_2 > 4) + 2 * (SINGLES_2 > 6) + 4 * (SINGLES_2 > 8) + 4 * (SINGLES_2 > 12)
//! let     WHOLE_2 = D == THREADS_2 * VEC_2 * PACKS_2_ITEMS
//! tune    THREADS_2 in 128, 64
//! tune    VEC_2 in 4, 1
//! tune    REGISTERS_2 in 1, 0
//! tune    THREADS_3 in 256
//! tune    VEC_3 in 4, 1
//! tune    UNROLL_3 in 1, 2
//! tune    STREAM in 0
//! method  memory.coalesced_access
//! method  memory.vectorized_access when VEC_2 > 1, off VEC_2=1
//! method  compute.ilp_unroll_register_tile when REGISTERS_2 == 1, off REGISTERS_2=0
//! method  compute.reduction
//! method  compute.warp_shuffle
//! method  memory.kernel_fusion
//! method  memory.vectorized_access when VEC_3 > 1, off VEC_3=1
//! method  compute.ilp_unroll_register_tile when UNROLL_3 > 1, off UNROLL_3=1
//! method  memory.ldg_cache_modifier_hint when STREAM == 1, off STREAM=0
//! when    D * S <= 2000000000 && T <= 2000000000 && D * T <= 2000000000 && D % VEC_2 == 0 && S <= 2000000000 && REGISTERS_2 == 1 && PACKS_2 <= 16 && (D * S) % VEC_3 == 0
//! launch  written_then_read_spread<int> grid(ceil_div(D * T, 256)) block(256) args(slot_, D, S, T, written_then_read_found)
//! launch  written_then_read<int> grid(ceil_div(D * S, 256)) block(256) args(cache, rows_, cache_next, D, S, written_then_read_found)
//! launch  written_then_read_2<int, VEC_2, PACKS_2_ITEMS, WHOLE_2> grid(S) block(THREADS_2) args(cache_next, out0, D)
//! launch  written_then_read_3<int, VEC_3> grid(ceil_div(D * S, THREADS_3 * UNROLL_3 * VEC_3)) block(THREADS_3) args(cache_next, cache, D, S)
//! when    S <= 2000000000 && D * S <= 2000000000 && REGISTERS_2 == 1 && SINGLES_2 <= 16
//! launch  written_then_read_spread<long long> grid(ceil_div(D * T, 256)) block(256) args(slot_, D, S, T, written_then_read_found)
//! launch  written_then_read<long long> grid(ceil_div(D * S, 256)) block(256) args(cache, rows_, cache_next, D, S, written_then_read_found)
//! launch  written_then_read_2<int, 1, SINGLES_2_ITEMS, 0> grid(S) block(THREADS_2) args(cache_next, out0, D)
//! launch  written_then_read_3<int, 1> grid(ceil_div(D * S, THREADS_3 * UNROLL_3)) block(THREADS_3) args(cache_next, cache, D, S)
//! when    D % VEC_2 == 0 && S <= 2000000000 && D * S <= 2000000000
//! launch  written_then_read_spread<long long> grid(ceil_div(D * T, 256)) block(256) args(slot_, D, S, T, written_then_read_found)
//! launch  written_then_read<long long> grid(ceil_div(D * S, 256)) block(256) args(cache, rows_, cache_next, D, S, written_then_read_found)
//! launch  written_then_read_2_long<int, VEC_2> grid(min(S, 2147483647)) block(THREADS_2) args(cache_next, out0, D, S)
//! launch  written_then_read_3<long long, 1> grid(ceil_div(D * S, THREADS_3 * UNROLL_3)) block(THREADS_3) args(cache_next, cache, D, S)
//! when    true
//! launch  written_then_read_spread<long long> grid(ceil_div(D * T, 256)) block(256) args(slot_, D, S, T, written_then_read_found)
//! launch  written_then_read<long long> grid(ceil_div(D * S, 256)) block(256) args(cache, rows_, cache_next, D, S, written_then_read_found)
//! launch  written_then_read_2_long<long long, 1> grid(min(S, 2147483647)) block(THREADS_2) args(cache_next, out0, D, S)
//! launch  written_then_read_3<long long, 1> grid(ceil_div(D * S, THREADS_3 * UNROLL_3)) block(THREADS_3) args(cache_next, cache, D, S)

// Generated for task written_then_read: written_then_read=scatter written_then_read_2=block_per_row
// written_then_read_3=pointwise.

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

// A thread per source element claims its place; the last one gets it.
template <typename Index>
__global__ void __launch_bounds__(256) written_then_read_spread(
                                                            const long long* __restrict__ slot_,
                                                            Index D, Index S, Index T,
                                                            unsigned long long* found) {
  const Index i = static_cast<Index>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= D * T) return;
  const Index i1 = i % D;
  const Index i0 = i / D;
  const long long slot__value = slot_[i0];
  const long long choice =
      (slot__value < 0LL) ? (slot__value + static_cast<long long>(S)) : slot__value;
  const Index picked_2 = static_cast<Index>(choice);
  atomicMax(&found[D * picked_2 + i1], static_cast<unsigned long long>(i) + 1);
}

// cache_next: the base and what was found for it.
template <typename Index>
__global__ void __launch_bounds__(256) written_then_read(const float* __restrict__ cache,
                                                         const float* __restrict__ rows_,
                                                         float* __restrict__ cache_next, Index D,
                                                         Index S, const unsigned long long* found) {
  const Index i = static_cast<Index>(blockIdx.x) * 256 + threadIdx.x;
  if (i >= D * S) return;
  const Index i1 = i % D;
  const Index i0 = i / D;
  const Index winner = static_cast<Index>(found[D * i0 + i1]);
  const bool inside = winner > 0;
  const float rows__value = inside ? rows_[((winner - 1) % D) + ((winner - 1) / D) * D] : 0.0f;
  cache_next[D * i0 + i1] = inside ? rows__value : cache[D * i0 + i1];
}

// out0: one block per row, which is read once, kept in registers.
template <typename Index, int kVec, int kItems, bool kWhole>
__global__ void __launch_bounds__(THREADS_2) written_then_read_2(
                                                            const float* __restrict__ cache_next,
                                                            float* __restrict__ out0, Index D) {
  __shared__ float row_sum_slots[THREADS_2 / 32];
  const int thread = threadIdx.x;
  const Index row = blockIdx.x;
  Pack<float, kVec> cache_next_pack[kItems];
  #pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const Index column = (item * THREADS_2 + thread) * kVec;
    if ((kWhole || column < D)) {
      cache_next_pack[item] = load_once<kVec>(cache_next + D * row + column);
    }
  }
  float row_sum = 0.0f;
  #pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const Index column = (item * THREADS_2 + thread) * kVec;
    if ((kWhole || column < D)) {
      #pragma unroll
      for (int lane = 0; lane < kVec; ++lane) {
        row_sum += cache_next_pack[item].at[lane];
      }
    }
  }
  row_sum = reduce_block<THREADS_2>(row_sum, Add(), row_sum_slots);
  if (thread == 0) {
    out0[row] = row_sum;
  }
}

// out0: one block per row, which is read again in every pass.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS_2) written_then_read_2_long(
                                                            const float* __restrict__ cache_next,
                                                            float* __restrict__ out0, Index D,
                                                            Index S) {
  __shared__ float row_sum_slots[THREADS_2 / 32];
  const int thread = threadIdx.x;
  for (Index row = blockIdx.x; row < S; row += gridDim.x) {
    float row_sum = 0.0f;
    #pragma unroll 4
    for (Index column = thread * kVec; column < D; column += THREADS_2 * kVec) {
      const Pack<float, kVec> cache_next_pack = load_pack<kVec>(cache_next + D * row + column);
      #pragma unroll
      for (int lane = 0; lane < kVec; ++lane) {
        row_sum += cache_next_pack.at[lane];
      }
    }
    row_sum = reduce_block<THREADS_2>(row_sum, Add(), row_sum_slots);
    if (thread == 0) {
      out0[row] = row_sum;
    }
    __syncthreads();
  }
}

// cache: every thread computes UNROLL_3 packs of kVec elements.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS_3) written_then_read_3(
                                                            const float* __restrict__ cache_next,
                                                            float* __restrict__ cache, Index D,
                                                            Index S) {
  const Index count = D * S;
  const Index first = static_cast<Index>(blockIdx.x) * (THREADS_3 * UNROLL_3 * kVec) +
      threadIdx.x * kVec;
  Pack<float, kVec> cache_next_pack[UNROLL_3];
  #pragma unroll
  for (int u = 0; u < UNROLL_3; ++u) {
    const Index i = first + u * (THREADS_3 * kVec);
    if (i < count) {
      cache_next_pack[u] = load_pack<kVec>(cache_next + i);
    }
  }
  #pragma unroll
  for (int u = 0; u < UNROLL_3; ++u) {
    const Index i = first + u * (THREADS_3 * kVec);
    if (i < count) {
      Pack<float, kVec> cache_pack;
      #pragma unroll
      for (int lane = 0; lane < kVec; ++lane) {
        cache_pack.at[lane] = cache_next_pack[u].at[lane];
      }
      store_pack(cache + i, cache_pack);
    }
  }
}
