//! kernelwright 1
//! task    softmax_long
//! input   x: fp32[B, D]
//! output  out0: fp32[B, D]
//! scratch max_1_parts: fp32[B, PARTS]
//! scratch sum_5_parts: fp32[B, PARTS]
//! let     PARTS = max(1, min(WAVES * SMS / max(B, 1), ceil_div(D, THREADS * 4)))
//! tune    FAST_MATH in 1, 0
//! tune    THREADS in 256, 512
//! tune    VEC in 4, 1
//! tune    WAVES in 4, 8
//! tune    ONLINE in 1, 0
//! tune    STREAM in 0
//! method  latency.online_recomputation when ONLINE == 1, off ONLINE=0
//! method  memory.vectorized_access when VEC > 1, off VEC=1
//! method  memory.split_k_parallel_reduce
//! method  compute.reduction
//! method  memory.ldg_cache_modifier_hint when STREAM == 1, off STREAM=0
//! method  compute.fma_and_fast_math when FAST_MATH == 1, off FAST_MATH=0
//! when    D % VEC == 0 && B * D <= 2000000000 && B <= 2000000000 && ONLINE == 1
//! launch  softmax_long_online_pass1<int, VEC> grid(B * PARTS) block(THREADS) args(x, D, max_1_parts, sum_5_parts, PARTS)
//! launch  softmax_long_online<int, VEC> grid(B * PARTS) block(THREADS) args(x, out0, D, max_1_parts, sum_5_parts, PARTS)
//! when    D % VEC == 0 && B * D <= 2000000000 && B <= 2000000000
//! launch  softmax_long_pass1<int, VEC> grid(B * PARTS) block(THREADS) args(x, D, max_1_parts, PARTS)
//! launch  softmax_long_pass2<int, VEC> grid(B * PARTS) block(THREADS) args(x, D, max_1_parts, sum_5_parts, PARTS)
//! launch  softmax_long<int, VEC> grid(B * PARTS) block(THREADS) args(x, out0, D, max_1_parts, sum_5_parts, PARTS)
//! when    B * D <= 2000000000 && B <= 2000000000
//! launch  softmax_long_pass1<int, 1> grid(B * PARTS) block(THREADS) args(x, D, max_1_parts, PARTS)
//! launch  softmax_long_pass2<int, 1> grid(B * PARTS) block(THREADS) args(x, D, max_1_parts, sum_5_parts, PARTS)
//! launch  softmax_long<int, 1> grid(B * PARTS) block(THREADS) args(x, out0, D, max_1_parts, sum_5_parts, PARTS)
//! when    true
//! launch  softmax_long_pass1<long long, 1> grid(B * PARTS) block(THREADS) args(x, D, max_1_parts, PARTS)
//! launch  softmax_long_pass2<long long, 1> grid(B * PARTS) block(THREADS) args(x, D, max_1_parts, sum_5_parts, PARTS)
//! launch  softmax_long<long long, 1> grid(B * PARTS) block(THREADS) args(x, out0, D, max_1_parts, sum_5_parts, PARTS)

// Generated for task softmax_long: softmax_long=split_rows.

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

struct Add {
  template <typename T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a + b;
  }
};

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

// A sum of exponentials in which another number is taken off the exponents; -inf taken off means
// that nothing was summed yet.
__device__ __forceinline__ float rescaled(float sum, float from, float to) {
  return from == to || from == -__int_as_float(0x7f800000) ? sum : sum * expf(from - to);
}

__device__ __forceinline__ float exp2_approx(float x) {
  float y;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float fast_exp(float x) {
  return FAST_MATH ? exp2_approx(x * 1.44269504f) : expf(x);
}

// Partial results of one part of a row.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) softmax_long_online_pass1(const float* __restrict__ x,
                                                            Index D,
                                                            float* __restrict__ max_1_parts,
                                                            float* __restrict__ sum_5_parts,
                                                            Index parts) {
  __shared__ float row_max_slots[THREADS / 32];
  __shared__ float row_sum_slots[THREADS / 32];
  const int thread = threadIdx.x;
  const Index row = blockIdx.x / parts;
  const Index part = blockIdx.x % parts;
  const Index share = (D / kVec + parts - 1) / parts * kVec;
  const Index first = share * part;
  const Index last = first + share < D ? first + share : D;
  float row_max = -__int_as_float(0x7f800000);
  float row_sum = 0.0f;
  float row_base = -__int_as_float(0x7f800000);
  #pragma unroll 4
  for (Index column = first + thread * kVec; column < last; column += THREADS * kVec) {
    const Pack<float, kVec> x_pack = load_pack<kVec>(x + D * row + column);
    #pragma unroll
    for (int lane = 0; lane < kVec; ++lane) {
      row_max = Larger()(row_max, static_cast<float>(x_pack.at[lane]));
    }
    if (row_max > row_base + 8.0f) {
      row_sum = rescaled(row_sum, row_base, row_max);
      row_base = row_max;
    }
    const float shift = row_base == -__int_as_float(0x7f800000) ? 0.0f : row_base;
    #pragma unroll
    for (int lane = 0; lane < kVec; ++lane) {
      const float exp_value = fast_exp(x_pack.at[lane] - shift);
      row_sum += exp_value;
    }
  }
  row_max = reduce_block<THREADS>(row_max, Larger(), row_max_slots);
  if (thread == 0) max_1_parts[row * parts + part] = row_max;
  row_sum = rescaled(row_sum, row_base, row_max);
  row_sum = reduce_block<THREADS>(row_sum, Add(), row_sum_slots);
  if (thread == 0) sum_5_parts[row * parts + part] = row_sum;
}

// Joins the partial results and stores what follows from them.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) softmax_long_online(const float* __restrict__ x,
                                                            float* __restrict__ out0, Index D,
                                                            const float* __restrict__ max_1_parts,
                                                            const float* __restrict__ sum_5_parts,
                                                            Index parts) {
  __shared__ float row_max_slots[THREADS / 32];
  __shared__ float row_sum_slots[THREADS / 32];
  const int thread = threadIdx.x;
  const Index block = gridDim.x - 1 - blockIdx.x;
  const Index row = block / parts;
  const Index part = block % parts;
  const Index share = (D / kVec + parts - 1) / parts * kVec;
  const Index first = share * part;
  const Index last = first + share < D ? first + share : D;
  float row_max = -__int_as_float(0x7f800000);
  for (Index other = thread; other < parts; other += THREADS) {
    row_max = Larger()(row_max, max_1_parts[row * parts + other]);
  }
  row_max = reduce_block<THREADS>(row_max, Larger(), row_max_slots);
  float row_sum = 0.0f;
  for (Index other = thread; other < parts; other += THREADS) {
    row_sum = Add()(row_sum,
        rescaled(sum_5_parts[row * parts + other], max_1_parts[row * parts + other], row_max));
  }
  row_sum = reduce_block<THREADS>(row_sum, Add(), row_sum_slots);
  // An infinite maximum is subtracted from itself somewhere: no number.
  row_sum += row_max - row_max;
  const float inverse = 1.0f / row_sum;
  #pragma unroll 4
  for (Index column = first + thread * kVec; column < last; column += THREADS * kVec) {
    const Pack<float, kVec> x_pack = load_pack<kVec>(x + D * row + column);
    Pack<float, kVec> out0_pack;
    #pragma unroll
    for (int lane = 0; lane < kVec; ++lane) {
      const float exp_value = fast_exp(x_pack.at[lane] - row_max);
      out0_pack.at[lane] = exp_value * inverse;
    }
    store_pack(out0 + D * row + column, out0_pack);
  }
}

// Partial results of one part of a row.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) softmax_long_pass1(const float* __restrict__ x,
                                                            Index D,
                                                            float* __restrict__ max_1_parts,
                                                            Index parts) {
  __shared__ float row_max_slots[THREADS / 32];
  const int thread = threadIdx.x;
  const Index row = blockIdx.x / parts;
  const Index part = blockIdx.x % parts;
  const Index share = (D / kVec + parts - 1) / parts * kVec;
  const Index first = share * part;
  const Index last = first + share < D ? first + share : D;
  float row_max = -__int_as_float(0x7f800000);
  #pragma unroll 4
  for (Index column = first + thread * kVec; column < last; column += THREADS * kVec) {
    const Pack<float, kVec> x_pack = load_pack<kVec>(x + D * row + column);
    #pragma unroll
    for (int lane = 0; lane < kVec; ++lane) {
      row_max = Larger()(row_max, static_cast<float>(x_pack.at[lane]));
    }
  }
  row_max = reduce_block<THREADS>(row_max, Larger(), row_max_slots);
  if (thread == 0) max_1_parts[row * parts + part] = row_max;
}

// Partial results of one part of a row.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) softmax_long_pass2(const float* __restrict__ x,
                                                            Index D,
                                                            const float* __restrict__ max_1_parts,
                                                            float* __restrict__ sum_5_parts,
                                                            Index parts) {
  __shared__ float row_max_slots[THREADS / 32];
  __shared__ float row_sum_slots[THREADS / 32];
  const int thread = threadIdx.x;
  const Index block = gridDim.x - 1 - blockIdx.x;
  const Index row = block / parts;
  const Index part = block % parts;
  const Index share = (D / kVec + parts - 1) / parts * kVec;
  const Index first = share * part;
  const Index last = first + share < D ? first + share : D;
  float row_max = -__int_as_float(0x7f800000);
  for (Index other = thread; other < parts; other += THREADS) {
    row_max = Larger()(row_max, max_1_parts[row * parts + other]);
  }
  row_max = reduce_block<THREADS>(row_max, Larger(), row_max_slots);
  float row_sum = 0.0f;
  #pragma unroll 4
  for (Index column = first + thread * kVec; column < last; column += THREADS * kVec) {
    const Pack<float, kVec> x_pack = load_pack<kVec>(x + D * row + column);
    #pragma unroll
    for (int lane = 0; lane < kVec; ++lane) {
      const float exp_value = fast_exp(x_pack.at[lane] - row_max);
      row_sum += exp_value;
    }
  }
  row_sum = reduce_block<THREADS>(row_sum, Add(), row_sum_slots);
  if (thread == 0) sum_5_parts[row * parts + part] = row_sum;
}

// Joins the partial results and stores what follows from them.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) softmax_long(const float* __restrict__ x,
                                                        float* __restrict__ out0, Index D,
                                                        const float* __restrict__ max_1_parts,
                                                        const float* __restrict__ sum_5_parts,
                                                        Index parts) {
  __shared__ float row_max_slots[THREADS / 32];
  __shared__ float row_sum_slots[THREADS / 32];
  const int thread = threadIdx.x;
  const Index row = blockIdx.x / parts;
  const Index part = blockIdx.x % parts;
  const Index share = (D / kVec + parts - 1) / parts * kVec;
  const Index first = share * part;
  const Index last = first + share < D ? first + share : D;
  float row_max = -__int_as_float(0x7f800000);
  for (Index other = thread; other < parts; other += THREADS) {
    row_max = Larger()(row_max, max_1_parts[row * parts + other]);
  }
  row_max = reduce_block<THREADS>(row_max, Larger(), row_max_slots);
  float row_sum = 0.0f;
  for (Index other = thread; other < parts; other += THREADS) {
    row_sum = Add()(row_sum, sum_5_parts[row * parts + other]);
  }
  row_sum = reduce_block<THREADS>(row_sum, Add(), row_sum_slots);
  const float inverse = 1.0f / row_sum;
  #pragma unroll 4
  for (Index column = first + thread * kVec; column < last; column += THREADS * kVec) {
    const Pack<float, kVec> x_pack = load_pack<kVec>(x + D * row + column);
    Pack<float, kVec> out0_pack;
    #pragma unroll
    for (int lane = 0; lane < kVec; ++lane) {
      const float exp_value = fast_exp(x_pack.at[lane] - row_max);
      out0_pack.at[lane] = exp_value * inverse;
    }
    store_pack(out0 + D * row + column, out0_pack);
  }
}
