//! kernelwright 1
//! task    group_norm
//! input   x: fp32[B, 32, H, W]
//! input   w: fp32[32]
//! input   b: fp32[32]
//! output  out0: fp32[B, 32, H, W]
//! scratch sum_4_parts: fp32[8 * B, PARTS]
//! scratch sum_11_parts: fp32[8 * B, PARTS]
//! let     PARTS = max(1, min(WAVES * SMS / max(8 * B, 1), ceil_div(4 * H * W, THREADS * 4)))
//! tune    THREADS in 256, 512
//! tune    VEC in 4, 1
//! tune    WAVES in 4, 2, 8
//! tune    ONLINE in 1, 0
//! tune    STREAM in 0, 1
//! method  latency.online_recomputation when ONLINE == 1, off ONLINE=0
//! method  memory.vectorized_access when VEC > 1, off VEC=1
//! method  memory.split_k_parallel_reduce
//! method  compute.reduction
//! method  memory.ldg_cache_modifier_hint when STREAM == 1, off STREAM=0
//! when    (H * W) % VEC == 0 && (4 * H * W) % VEC == 0 && (32 * H * W) % VEC == 0 && 32 * B * H * W <= 2000000000 && 8 * B <= 2000000000 && 32 * B <= 2000000000 && ONLINE == 1
//! launch  group_norm_online_pass1<int, VEC> grid((8 * B) * PARTS) block(THREADS) args(x, B, H, W, sum_4_parts, sum_11_parts, PARTS)
//! launch  group_norm_online<int, VEC> grid((8 * B) * PARTS) block(THREADS) args(x, w, b, out0, B, H, W, sum_4_parts, sum_11_parts, PARTS)
//! when    (H * W) % VEC == 0 && (4 * H * W) % VEC == 0 && (32 * H * W) % VEC == 0 && 32 * B * H * W <= 2000000000 && 8 * B <= 2000000000 && 32 * B <= 2000000000
//! launch  group_norm_pass1<int, VEC> grid((8 * B) * PARTS) block(THREADS) args(x, B, H, W, sum_4_parts, PARTS)
//! launch  group_norm_pass2<int, VEC> grid((8 * B) * PARTS) block(THREADS) args(x, B, H, W, sum_4_parts, sum_11_parts, PARTS)
//! launch  group_norm<int, VEC> grid((8 * B) * PARTS) block(THREADS) args(x, w, b, out0, B, H, W, sum_4_parts, sum_11_parts, PARTS)
//! when    32 * B * H * W <= 2000000000 && 8 * B <= 2000000000 && 32 * B <= 2000000000
//! launch  group_norm_pass1<int, 1> grid((8 * B) * PARTS) block(THREADS) args(x, B, H, W, sum_4_parts, PARTS)
//! launch  group_norm_pass2<int, 1> grid((8 * B) * PARTS) block(THREADS) args(x, B, H, W, sum_4_parts, sum_11_parts, PARTS)
//! launch  group_norm<int, 1> grid((8 * B) * PARTS) block(THREADS) args(x, w, b, out0, B, H, W, sum_4_parts, sum_11_parts, PARTS)
//! when    true
//! launch  group_norm_pass1<long long, 1> grid((8 * B) * PARTS) block(THREADS) args(x, B, H, W, sum_4_parts, PARTS)
//! launch  group_norm_pass2<long long, 1> grid((8 * B) * PARTS) block(THREADS) args(x, B, H, W, sum_4_parts, sum_11_parts, PARTS)
//! launch  group_norm<long long, 1> grid((8 * B) * PARTS) block(THREADS) args(x, w, b, out0, B, H, W, sum_4_parts, sum_11_parts, PARTS)

// Generated for task group_norm: group_norm=split_rows.

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

// The sum of squares about another number, from that about the mean of so many elements.
__device__ __forceinline__ float squares_about(float squares, float count, float mean,
                                               float other) {
  return count > 0.0f ? squares + count * ((mean - other) * (mean - other)) : 0.0f;
}

// One more group of elements: how many they are, their mean and the squares about it.
__device__ __forceinline__ void join_squares(float& count, float& mean, float& squares,
                                             float more, float other, float others) {
  const float share = __fdividef(more, count + more), apart = other - mean;
  squares += others + apart * apart * (count * share);
  mean += apart * share;
  count += more;
}

// Partial results of one part of a row.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) group_norm_online_pass1(const float* __restrict__ x,
                                                            Index B, Index H, Index W,
                                                            float* __restrict__ sum_4_parts,
                                                            float* __restrict__ sum_11_parts,
                                                            Index parts) {
  __shared__ float row_sum_slots[THREADS / 32];
  __shared__ float row_sum_2_slots[THREADS / 32];
  const int thread = threadIdx.x;
  const Index row = blockIdx.x / parts;
  const Index part = blockIdx.x % parts;
  const Index share = (4 * H * W / kVec + parts - 1) / parts * kVec;
  const Index first = share * part;
  const Index last = first + share < 4 * H * W ? first + share : 4 * H * W;
  const Index row_inner = row % 8;
  const Index row_outer = row / 8;
  float row_sum = 0.0f;
  float row_count = 0.0f, row_mean = 0.0f;
  float row_sum_2 = 0.0f;
  #pragma unroll 4
  for (Index column = first + thread * kVec; column < last; column += THREADS * kVec) {
    const Index column_inner = column % (H * W);
    const Index column_outer = column / (H * W);
    const Pack<float, kVec> x_pack =
        load_pack<kVec>(x + H * W * column_outer + 4 * H * W * row_inner + 32 * H * W * row_outer +
        column_inner);
    float pack_sum = 0.0f;
    #pragma unroll
    for (int lane = 0; lane < kVec; ++lane) {
      pack_sum += x_pack.at[lane];
    }
    row_sum += pack_sum;
    const float pack_mean = pack_sum * (1.0f / kVec);
    float pack_squares = 0.0f;
    #pragma unroll
    for (int lane = 0; lane < kVec; ++lane) {
      const float difference = x_pack.at[lane] - pack_mean;
      pack_squares += difference * difference;
    }
    join_squares(row_count, row_mean, row_sum_2, kVec, pack_mean, pack_squares);
  }
  row_sum = reduce_block<THREADS>(row_sum, Add(), row_sum_slots);
  if (thread == 0) sum_4_parts[row * parts + part] = row_sum;
  row_sum_2 = squares_about(row_sum_2, row_count, row_mean,
      row_sum / static_cast<float>(last - first));
  row_sum_2 = reduce_block<THREADS>(row_sum_2, Add(), row_sum_2_slots);
  if (thread == 0) sum_11_parts[row * parts + part] = row_sum_2;
}

// Joins the partial results and stores what follows from them.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) group_norm_online(const float* __restrict__ x,
    const float* __restrict__ w, const float* __restrict__ b, float* __restrict__ out0, Index B,
    Index H, Index W, const float* __restrict__ sum_4_parts,
    const float* __restrict__ sum_11_parts, Index parts) {
  const float constant_value = static_cast<float>(4 * H * W);
  __shared__ float row_sum_slots[THREADS / 32];
  __shared__ float row_sum_2_slots[THREADS / 32];
  const int thread = threadIdx.x;
  const Index block = gridDim.x - 1 - blockIdx.x;
  const Index row = block / parts;
  const Index part = block % parts;
  const Index share = (4 * H * W / kVec + parts - 1) / parts * kVec;
  const Index first = share * part;
  const Index last = first + share < 4 * H * W ? first + share : 4 * H * W;
  const Index row_inner = row % 8;
  const Index row_outer = row / 8;
  float row_sum = 0.0f;
  for (Index other = thread; other < parts; other += THREADS) {
    row_sum = Add()(row_sum, sum_4_parts[row * parts + other]);
  }
  row_sum = reduce_block<THREADS>(row_sum, Add(), row_sum_slots);
  float row_sum_2 = 0.0f;
  const float row_mean = row_sum / static_cast<float>(4 * H * W);
  for (Index other = thread; other < parts; other += THREADS) {
    const Index from = share * other;
    const Index size = from + share < 4 * H * W ? share : from < 4 * H * W ? 4 * H * W - from : 0;
    row_sum_2 += squares_about(sum_11_parts[row * parts + other], static_cast<float>(size),
        sum_4_parts[row * parts + other] / static_cast<float>(size), row_mean);
  }
  row_sum_2 = reduce_block<THREADS>(row_sum_2, Add(), row_sum_2_slots);
  const float rsqrt_value = rsqrtf((row_sum_2 / constant_value) + 1e-05f);
  const float quotient = row_sum / constant_value;
  const float negative = -quotient;
  #pragma unroll 4
  for (Index column = first + thread * kVec; column < last; column += THREADS * kVec) {
    const Index column_inner = column % (H * W);
    const Index column_outer = column / (H * W);
    const Pack<float, kVec> x_pack =
        load_pack<kVec>(x + H * W * column_outer + 4 * H * W * row_inner + 32 * H * W * row_outer +
        column_inner);
    const float product = rsqrt_value * w[column_outer + 4 * row_inner];
    const float sum = (negative * product) + b[column_outer + 4 * row_inner];
    Pack<float, kVec> out0_pack;
    #pragma unroll
    for (int lane = 0; lane < kVec; ++lane) {
      out0_pack.at[lane] = (x_pack.at[lane] * product) + sum;
    }
    store_pack(out0 + H * W * column_outer + 4 * H * W * row_inner + 32 * H * W * row_outer +
        column_inner, out0_pack);
  }
}

// Partial results of one part of a row.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) group_norm_pass1(const float* __restrict__ x, Index B,
                                                            Index H, Index W,
                                                            float* __restrict__ sum_4_parts,
                                                            Index parts) {
  __shared__ float row_sum_slots[THREADS / 32];
  const int thread = threadIdx.x;
  const Index row = blockIdx.x / parts;
  const Index part = blockIdx.x % parts;
  const Index share = (4 * H * W / kVec + parts - 1) / parts * kVec;
  const Index first = share * part;
  const Index last = first + share < 4 * H * W ? first + share : 4 * H * W;
  const Index row_inner = row % 8;
  const Index row_outer = row / 8;
  float row_sum = 0.0f;
  #pragma unroll 4
  for (Index column = first + thread * kVec; column < last; column += THREADS * kVec) {
    const Index column_inner = column % (H * W);
    const Index column_outer = column / (H * W);
    const Pack<float, kVec> x_pack =
        load_pack<kVec>(x + H * W * column_outer + 4 * H * W * row_inner + 32 * H * W * row_outer +
        column_inner);
    #pragma unroll
    for (int lane = 0; lane < kVec; ++lane) {
      row_sum += x_pack.at[lane];
    }
  }
  row_sum = reduce_block<THREADS>(row_sum, Add(), row_sum_slots);
  if (thread == 0) sum_4_parts[row * parts + part] = row_sum;
}

// Partial results of one part of a row.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) group_norm_pass2(const float* __restrict__ x, Index B,
                                                            Index H, Index W,
                                                            const float* __restrict__ sum_4_parts,
                                                            float* __restrict__ sum_11_parts,
                                                            Index parts) {
  const float constant_value = static_cast<float>(4 * H * W);
  __shared__ float row_sum_slots[THREADS / 32];
  __shared__ float row_sum_2_slots[THREADS / 32];
  const int thread = threadIdx.x;
  const Index block = gridDim.x - 1 - blockIdx.x;
  const Index row = block / parts;
  const Index part = block % parts;
  const Index share = (4 * H * W / kVec + parts - 1) / parts * kVec;
  const Index first = share * part;
  const Index last = first + share < 4 * H * W ? first + share : 4 * H * W;
  const Index row_inner = row % 8;
  const Index row_outer = row / 8;
  float row_sum = 0.0f;
  for (Index other = thread; other < parts; other += THREADS) {
    row_sum = Add()(row_sum, sum_4_parts[row * parts + other]);
  }
  row_sum = reduce_block<THREADS>(row_sum, Add(), row_sum_slots);
  const float quotient = row_sum / constant_value;
  float row_sum_2 = 0.0f;
  #pragma unroll 4
  for (Index column = first + thread * kVec; column < last; column += THREADS * kVec) {
    const Index column_inner = column % (H * W);
    const Index column_outer = column / (H * W);
    const Pack<float, kVec> x_pack =
        load_pack<kVec>(x + H * W * column_outer + 4 * H * W * row_inner + 32 * H * W * row_outer +
        column_inner);
    #pragma unroll
    for (int lane = 0; lane < kVec; ++lane) {
      const float difference = x_pack.at[lane] - quotient;
      row_sum_2 += difference * difference;
    }
  }
  row_sum_2 = reduce_block<THREADS>(row_sum_2, Add(), row_sum_2_slots);
  if (thread == 0) sum_11_parts[row * parts + part] = row_sum_2;
}

// Joins the partial results and stores what follows from them.
template <typename Index, int kVec>
__global__ void __launch_bounds__(THREADS) group_norm(const float* __restrict__ x,
                                                      const float* __restrict__ w,
                                                      const float* __restrict__ b,
                                                      float* __restrict__ out0, Index B, Index H,
                                                      Index W,
                                                      const float* __restrict__ sum_4_parts,
                                                      const float* __restrict__ sum_11_parts,
                                                      Index parts) {
  const float constant_value = static_cast<float>(4 * H * W);
  __shared__ float row_sum_slots[THREADS / 32];
  __shared__ float row_sum_2_slots[THREADS / 32];
  const int thread = threadIdx.x;
  const Index row = blockIdx.x / parts;
  const Index part = blockIdx.x % parts;
  const Index share = (4 * H * W / kVec + parts - 1) / parts * kVec;
  const Index first = share * part;
  const Index last = first + share < 4 * H * W ? first + share : 4 * H * W;
  const Index row_inner = row % 8;
  const Index row_outer = row / 8;
  float row_sum = 0.0f;
  for (Index other = thread; other < parts; other += THREADS) {
    row_sum = Add()(row_sum, sum_4_parts[row * parts + other]);
  }
  row_sum = reduce_block<THREADS>(row_sum, Add(), row_sum_slots);
  float row_sum_2 = 0.0f;
  for (Index other = thread; other < parts; other += THREADS) {
    row_sum_2 = Add()(row_sum_2, sum_11_parts[row * parts + other]);
  }
  row_sum_2 = reduce_block<THREADS>(row_sum_2, Add(), row_sum_2_slots);
  const float rsqrt_value = rsqrtf((row_sum_2 / constant_value) + 1e-05f);
  const float quotient = row_sum / constant_value;
  const float negative = -quotient;
  #pragma unroll 4
  for (Index column = first + thread * kVec; column < last; column += THREADS * kVec) {
    const Index column_inner = column % (H * W);
    const Index column_outer = column / (H * W);
    const Pack<float, kVec> x_pack =
        load_pack<kVec>(x + H * W * column_outer + 4 * H * W * row_inner + 32 * H * W * row_outer +
        column_inner);
    const float product = rsqrt_value * w[column_outer + 4 * row_inner];
    const float sum = (negative * product) + b[column_outer + 4 * row_inner];
    Pack<float, kVec> out0_pack;
    #pragma unroll
    for (int lane = 0; lane < kVec; ++lane) {
      out0_pack.at[lane] = (x_pack.at[lane] * product) + sum;
    }
    store_pack(out0 + H * W * column_outer + 4 * H * W * row_inner + 32 * H * W * row_outer +
        column_inner, out0_pack);
  }
}
