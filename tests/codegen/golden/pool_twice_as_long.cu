//! kernelwright 1
//! task    pool_twice_as_long
//! input   x: fp32[N, C, L]
//! output  out0: fp32[N, C, 2 * (L - 1)]
//! let     PART = L - 1
//! let     PACKS = ceil_div(2, LANES * VEC)
//! let     PACKS_ITEMS = 1 + (PACKS > 1) + (PACKS > 2) + (PACKS > 3) + 2 * (PACKS > 4) + 2 * (PACKS > 6) + 4 * (PACKS > 8) + 4 * (PACKS > 12)
//! let     SINGLES = ceil_div(2, LANES)
//! let     SINGLES_ITEMS = 1 + (SINGLES > 1) + (SINGLES > 2) + (SINGLES > 3) + 2 * (SINGLES > 4) + 2 * (SINGLES > 6) + 4 * (SINGLES > 8) + 4 * (SINGLES > 12)
//! let     WHOLE = 2 == LANES * VEC * PACKS_ITEMS
//! tune    LANES in 2, 1
//! tune    THREADS in 256, 1024
//! tune    TURNS in 4, 2, 1
//! tune    VEC in 1
//! tune    REGISTERS in 1, 0
//! tune    STREAM in 0, 1
//! method  compute.ilp_unroll_register_tile when REGISTERS == 1, off REGISTERS=0
//! method  compute.thread_coarsening when TURNS > 1, off TURNS=1
//! method  compute.reduction
//! method  compute.warp_shuffle
//! method  memory.coalesced_access
//! method  memory.kernel_fusion
//! method  memory.ldg_cache_modifier_hint when STREAM == 1, off STREAM=0
//! when    2 <= L && (2 * PART) % VEC == 0 && 2 % VEC == 0 && 2 * C * N * PART <= 2000000000 && C * L * N <= 2000000000 && C * N * PART <= 2000000000 && REGISTERS == 1 && PACKS <= 16
//! launch  pool_twice_as_long<int, VEC, PACKS_ITEMS, WHOLE> grid(ceil_div(C * N * PART, THREADS / LANES * TURNS)) block(THREADS) args(x, out0, C, L, N, PART)
//! when    2 <= L && 2 * C * N * PART <= 2000000000 && C * L * N <= 2000000000 && C * N * PART <= 2000000000 && REGISTERS == 1 && SINGLES <= 16
//! launch  pool_twice_as_long<int, 1, SINGLES_ITEMS, 0> grid(ceil_div(C * N * PART, THREADS / LANES * TURNS)) block(THREADS) args(x, out0, C, L, N, PART)
//! when    2 <= L && (2 * PART) % VEC == 0 && 2 % VEC == 0 && 2 * C * N * PART <= 2000000000 && C * L * N <= 2000000000 && C * N * PART <= 2000000000
//! launch  pool_twice_as_long_long<int, VEC> grid(min(ceil_div(C * N * PART, THREADS / LANES), 2147483647)) block(THREADS) args(x, out0, C, L, N, PART)
//! when    2 <= L
//! launch  pool_twice_as_long_long<long long, 1> grid(min(ceil_div(C * N * PART, THREADS / LANES), 2147483647)) block(THREADS) args(x, out0, C, L, N, PART)

// Generated for task pool_twice_as_long: pool_twice_as_long=lanes_per_row.

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

struct Larger {
  template <typename T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return max_nan(a, b);
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

// out0: LANES lanes per row, which is read once, kept in registers.
template <typename Index, int kVec, int kItems, bool kWhole>
__global__ void __launch_bounds__(THREADS) pool_twice_as_long(const float* __restrict__ x,
                                                            float* __restrict__ out0, Index C,
                                                            Index L, Index N, Index PART) {
  const Index rows = C * N * PART;
  const int thread = threadIdx.x % LANES;
  #pragma unroll
  for (int turn = 0; turn < TURNS; ++turn) {
    const Index own_row = (static_cast<Index>(blockIdx.x) * TURNS + turn) * (THREADS / LANES) +
        threadIdx.x / LANES;
    const Index row = own_row < rows ? own_row : rows - 1;
    const Index row_inner = row % PART;
    const Index row_outer = row / PART;
    float row_max = -__int_as_float(0x7f800000);
    #pragma unroll
    for (int item = 0; item < kItems; ++item) {
      const Index column = (item * LANES + thread) * kVec;
      if ((kWhole || column < 2)) {
        #pragma unroll
        for (int lane = 0; lane < kVec; ++lane) {
          row_max = Larger()(row_max,
              static_cast<float>(x[L * row_outer + column + lane + row_inner]));
        }
      }
    }
    row_max = reduce_lanes<LANES>(row_max, Larger());
    #pragma unroll
    for (int item = 0; item < kItems; ++item) {
      const Index column = (item * LANES + thread) * kVec;
      if ((kWhole || column < 2) && own_row < rows) {
        Pack<float, kVec> out0_pack;
        #pragma unroll
        for (int lane = 0; lane < kVec; ++lane) {
          out0_pack.at[lane] = row_max;
        }
        store_pack(out0 + 2 * PART * row_outer + column + 2 * row_inner, out0_pack);
      }
    }
  }
}

// out0: LANES lanes per row, which is read again in every pass.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) pool_twice_as_long_long(const float* __restrict__ x,
                                                            float* __restrict__ out0, Index C,
                                                            Index L, Index N, Index PART) {
  const Index rows = C * N * PART;
  const int thread = threadIdx.x % LANES;
  const Index step = static_cast<Index>(gridDim.x) * (THREADS / LANES);
  for (Index first = static_cast<Index>(blockIdx.x) * (THREADS / LANES);
      first < rows; first += step) {
    const Index own_row = first + threadIdx.x / LANES;
    const Index row = own_row < rows ? own_row : rows - 1;
    const Index row_inner = row % PART;
    const Index row_outer = row / PART;
    float row_max = -__int_as_float(0x7f800000);
    #pragma unroll 4
    for (Index column = thread * kVec; column < 2; column += LANES * kVec) {
      #pragma unroll
      for (int lane = 0; lane < kVec; ++lane) {
        row_max = Larger()(row_max,
            static_cast<float>(x[L * row_outer + column + lane + row_inner]));
      }
    }
    row_max = reduce_lanes<LANES>(row_max, Larger());
    #pragma unroll 4
    for (Index column = thread * kVec; column < 2; column += LANES * kVec) {
      if (own_row < rows) {
        Pack<float, kVec> out0_pack;
        #pragma unroll
        for (int lane = 0; lane < kVec; ++lane) {
          out0_pack.at[lane] = row_max;
        }
        store_pack(out0 + 2 * PART * row_outer + column + 2 * row_inner, out0_pack);
      }
    }
  }
}
