//! kernelwright 1
//! task    causal_bf16
//! input   q: bf16[1, 2, L, 64]
//! input   k: bf16[1, 2, S, 64]
//! input   v: bf16[1, 2, S, 64]
//! output  out0: bf16[1, 2, L, 64]
//! let     HEAD = 16 * ceil_div(max(1, 64, 64), 16)
//! let     TALL_USED = pick(HEAD > 128, TALL, 1)
//! let     KEYS_USED = pick(HEAD > 128, KEYS, min(KEYS, 32))
//! let     ROWS = 16 * WARPS * TALL_USED
//! let     TILE_BYTES = 2 * (ROWS + 4 * KEYS_USED) * (HEAD + 8)
//! let     COLUMNS = pick(64 > 64, 64, 128)
//! let     ROWS_BLOCK = pick(ROWS_PLAIN + COLUMNS > 192, ROWS_PLAIN, pick(SMEM_MAX < 141312, ROWS_PLAIN, 64))
//! let     PLAIN_BYTES = 4 * (COLUMNS * (ROWS_BLOCK + 4) + 8 * max(9 * (ROWS_BLOCK + COLUMNS), 8 * (COLUMNS + 4)))
//! tune    TALL in 1, 2
//! tune    WARPS in 4, 8
//! tune    KEYS in 64, 32, 128 where TALL * KEYS <= 128
//! tune    ROWS_PLAIN in 64
//! method  memory.kernel_fusion
//! method  compute.tensor_core
//! method  memory.tiling_smem
//! method  memory.ldmatrix_stmatrix
//! method  memory.bank_conflict
//! method  compute.overlap_compute_memory
//! method  latency.online_recomputation
//! method  memory.vectorized_access
//! method  memory.async_copy
//! when    (64 * L) % 8 == 0 && (64 * S) % 8 == 0 && 128 * L <= 2000000000 && 128 * S <= 2000000000 && 2 * L * S <= 2000000000 && L <= 2000000000 && S <= 2000000000 && L * S <= 2000000000 && 2 * L <= 2000000000 && HEAD <= 256 && TILE_BYTES <= SMEM_MAX
//! launch  causal_bf16<int, HEAD, TALL_USED, KEYS_USED, 8, 8, 8, 8> grid(2 * ceil_div(L, ROWS)) block(32 * WARPS) shared(TILE_BYTES) args(q, k, v, out0, L, S)
//! when    128 * L <= 2000000000 && 128 * S <= 2000000000 && 2 * L * S <= 2000000000 && L <= 2000000000 && S <= 2000000000 && L * S <= 2000000000 && 2 * L <= 2000000000 && HEAD <= 256 && TILE_BYTES <= SMEM_MAX
//! launch  causal_bf16<int, HEAD, TALL_USED, KEYS_USED, 1, 1, 1, 1> grid(2 * ceil_div(L, ROWS)) block(32 * WARPS) shared(TILE_BYTES) args(q, k, v, out0, L, S)
//! when    HEAD <= 256 && TILE_BYTES <= SMEM_MAX
//! launch  causal_bf16<long long, HEAD, TALL_USED, KEYS_USED, 1, 1, 1, 1> grid(2 * ceil_div(L, ROWS)) block(32 * WARPS) shared(TILE_BYTES) args(q, k, v, out0, L, S)
//! when    128 * L <= 2000000000 && 128 * S <= 2000000000 && 2 * L * S <= 2000000000 && L <= 2000000000 && S <= 2000000000 && L * S <= 2000000000 && 2 * L <= 2000000000
//! launch  causal_bf16_plain<int, ROWS_BLOCK, COLUMNS, 1> grid(2 * ceil_div(L, ROWS_BLOCK), ceil_div(64, COLUMNS)) block(ROWS_BLOCK * COLUMNS / 64) shared(PLAIN_BYTES) args(q, k, v, out0, L, S)
//! when    true
//! launch  causal_bf16_plain<long long, ROWS_BLOCK, COLUMNS, 1> grid(2 * ceil_div(L, ROWS_BLOCK), ceil_div(64, COLUMNS)) block(ROWS_BLOCK * COLUMNS / 64) shared(PLAIN_BYTES) args(q, k, v, out0, L, S)

// Generated for task causal_bf16: causal_bf16=attention_mma.
#include <cuda_bf16.h>

// Neighbouring elements that are loaded and stored as one word.
template <typename T, int kCount>
struct alignas(sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16) Pack {
  T at[kCount];
};

// 2 to the power of x, subnormal results too.
__device__ __forceinline__ float exact_power_of_two(float x) {
  float y;
  asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Elements on their way to shared memory, or zeros; there after await_copies(). Halves that come
// one by one arrive at once.
template <int kCount, typename T>
__device__ __forceinline__ void copy_async(T* to, const T* from, bool within) {
  constexpr int kBytes = sizeof(T) * kCount;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(at), "l"(from), "r"(within ? 16 : 0)
                 : "memory");
  } else if constexpr (kBytes == 4) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :
                 : "r"(at), "l"(from), "r"(within ? 4 : 0)
                 : "memory");
  } else if (within) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) to[i] = from[i];
  } else {
    *reinterpret_cast<Pack<T, kCount>*>(to) = {};
  }
}

// Where the thread's pack behind `each` others lies in a tile that is kSide packs wide.
template <int kSide, int kThreads>
__device__ __forceinline__ int2 pack_place(int each) {
  const int own = threadIdx.x;
  if (kThreads % kSide == 0) return make_int2(own % kSide, each / kSide + own / kSide);
  return make_int2((each + own) % kSide, (each + own) / kSide);
}

__device__ __forceinline__ void await_copies() {
  asm volatile("cp.async.wait_all;" : : : "memory");
}

// Four 8 x 8 matrices of halves from shared memory: lane 8 i + r names row r of matrix i.
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}
__device__ __forceinline__ void load_turned(unsigned (&to)[4], unsigned row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}

// Where a half lies in shared memory. Sums of 32 bits: addresses take few registers.
template <int kPitch, typename Half>
__device__ __forceinline__ unsigned place_in(const Half* tile, int line, int at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(tile)) + 2 * (line * kPitch + at);
}

// 16 x 16 halves of a tile as an operand of products: those from this line and place on. Lines are
// kPitch halves apart and lie along k, those of turned operands across it. A right operand serves
// two products: of its first eight columns, with b[0] and b[1], and of the others, with b[2] and
// b[3].
template <int kPitch, typename Half>
__device__ __forceinline__ void load_left(unsigned (&a)[4], const Half* tile, int line, int at) {
  const int lane = threadIdx.x % 32;
  load_matrices(a, place_in<kPitch>(tile, line + lane % 16, at + lane / 16 * 8));
}
template <int kPitch, typename Half>
__device__ __forceinline__ void load_left_turned(unsigned (&a)[4], const Half* tile, int line,
                                                 int at) {
  const int lane = threadIdx.x % 32, own = lane / 16 * 8 + lane % 8;
  load_turned(a, place_in<kPitch>(tile, line + own, at + lane / 8 % 2 * 8));
}
template <int kPitch, typename Half>
__device__ __forceinline__ void load_right(unsigned (&b)[4], const Half* tile, int line, int at) {
  const int lane = threadIdx.x % 32, own = lane / 16 * 8 + lane % 8;
  load_matrices(b, place_in<kPitch>(tile, line + own, at + lane / 8 % 2 * 8));
}
template <int kPitch, typename Half>
__device__ __forceinline__ void load_right_turned(unsigned (&b)[4], const Half* tile, int line,
                                                  int at) {
  const int lane = threadIdx.x % 32;
  load_turned(b, place_in<kPitch>(tile, line + lane % 16, at + lane / 16 * 8));
}

// 16 x 16 times 16 x 8 on tensor cores, added to 16 x 8 sums that the warp holds.
__device__ __forceinline__ void add_product_bf16(float (&sums)[4], const unsigned (&a)[4],
                                                 unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned pair_bf16(float low, float high) {
  unsigned both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

// The warp's queries along step k, as left operands.
template <int kHead, int kTall, int kSteps>
__device__ __forceinline__ void causal_bf16_load(
    unsigned (&left)[kTall][kSteps][4], const __nv_bfloat16* queries, int k) {
#pragma unroll
  for (int t = 0; t < kTall; ++t) {
    load_left<kHead + 8>(left[t][k % kSteps], queries, t * 16, k * 16);
  }
}

// Their products with a tile of keys, added to `from`. Queries that had no room in registers are
// loaded again.
template <int kHead, int kTall, int kSteps, int kEights>
__device__ __forceinline__ void causal_bf16_scores(
    float (&dots)[kTall][kEights][4], const float (&from)[kTall][4],
    unsigned (&left)[kTall][kSteps][4], const __nv_bfloat16* queries, const __nv_bfloat16* keys) {
#pragma unroll
  for (int i = 0; i < kTall * kEights * 4; ++i) {
    dots[i / 4 / kEights][i / 4 % kEights][i % 4] = from[i / 4 / kEights][i % 4];
  }
#pragma unroll
  for (int k = 0; k < kHead / 16; ++k) {
    if (kSteps < kHead / 16) causal_bf16_load<kHead>(left, queries, k);
#pragma unroll
    for (int n = 0; n < kEights; n += 2) {
      unsigned right[4];
      load_right<kHead + 8>(right, keys, n * 8, k * 16);
#pragma unroll
      for (int t = 0; t < kTall; ++t) {
        add_product_bf16(dots[t][n], left[t][k % kSteps], right[0], right[1]);
        add_product_bf16(dots[t][n + 1], left[t][k % kSteps], right[2], right[3]);
      }
    }
  }
}

// Keys behind the first `count` of a tile weigh nothing.
template <int kTall, int kEights>
__device__ __forceinline__ void causal_bf16_hide(
    float (&dots)[kTall][kEights][4], int count) {
#pragma unroll
  for (int i = 0; i < kTall * kEights * 4; ++i) {
    const int n = i / 4 % kEights, key = n * 8 + threadIdx.x % 4 * 2 + i % 2;
    if (key >= count) dots[i / 4 / kEights][n][i % 4] = -__int_as_float(0x7f800000);
  }
}

// The first query sees the keys up to `room`, every further one a key more.
template <typename Index, int kTall, int kEights>
__device__ __forceinline__ void causal_bf16_hide_later(
    float (&dots)[kTall][kEights][4], Index room) {
#pragma unroll
  for (int i = 0; i < kTall * kEights * 4; ++i) {
    const int t = i / 4 / kEights, n = i / 4 % kEights;
    const int key = n * 8 + threadIdx.x % 4 * 2 + i % 2;
    const int row = t * 16 + i % 4 / 2 * 8 + threadIdx.x % 32 / 4;
    if (key > room + row) dots[t][n][i % 4] = -__int_as_float(0x7f800000);
  }
}

// Scores are those above a level (`from` is minus that), so that none of their powers is more than
// 2^8 or so: where one would be, the level rises to the row's largest, and what was summed before
// is worth less. That is rare once the level has been set.
template <int kTall, int kEights, int kColumns>
__device__ __forceinline__ void causal_bf16_lift(
    float (&dots)[kTall][kEights][4], float (&from)[kTall][4], float (&limits)[2 * kTall],
    float (&sums)[kTall][4], float (&totals)[kTall][kColumns][4], float steep) {
  float tops[2 * kTall];
  bool lifts = false;
#pragma unroll
  for (int i = 0; i < 2 * kTall; ++i) {
    tops[i] = -__int_as_float(0x7f800000);
#pragma unroll
    for (int j = 0; j < 2 * kEights; ++j) {
      tops[i] = fmaxf(tops[i], dots[i / 2][j / 2][i % 2 * 2 + j % 2]);
    }
    lifts = lifts || tops[i] > limits[i];
  }
  if (!__any_sync(0xffffffffu, lifts)) return;
#pragma unroll
  for (int i = 0; i < 2 * kTall; ++i) {
    float top = tops[i];
    top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
    top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
    const bool lifted = top > limits[i];
    const float was = from[i / 2][i % 2 * 2], now = lifted ? was - top : was;
    const float by = lifted ? was - now : 0.0f;
    // The first level may be below 0.
    const float fade = exact_power_of_two(-fmaxf(by, 0.0f) * steep);
    limits[i] = lifted ? 8.0f / steep : limits[i];
    from[i / 2][i % 2 * 2] = now;
    from[i / 2][i % 2 * 2 + 1] = now;
    sums[i / 2][i % 2 * 2] *= fade;
#pragma unroll
    for (int j = 0; j < 2 * kEights; ++j) dots[i / 2][j / 2][i % 2 * 2 + j % 2] -= by;
#pragma unroll
    for (int j = 0; j < 2 * kColumns; ++j) totals[i / 2][j / 2][i % 2 * 2 + j % 2] *= fade;
  }
}

// Adds a tile of values as they weigh, and the weights themselves: those that were multiplied.
template <int kTall, int kEights, int kColumns>
__device__ __forceinline__ void causal_bf16_mix(
    float (&totals)[kTall][kColumns][4], float (&sums)[kTall][4],
    const float (&dots)[kTall][kEights][4], const __nv_bfloat16* values, float steep) {
#pragma unroll
  for (int k = 0; k < kEights; k += 2) {
    unsigned share[kTall][4];
#pragma unroll
    for (int t = 0; t < kTall; ++t) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float(&two)[4] = dots[t][k + i / 2];
        share[t][i] = pair_bf16(exact_power_of_two(two[i % 2 * 2] * steep),
                           exact_power_of_two(two[i % 2 * 2 + 1] * steep));
      }
      add_product_bf16(sums[t], share[t], 0x3f803f80u, 0x3f803f80u);
    }
#pragma unroll
    for (int n = 0; n < kColumns; n += 2) {
      unsigned right[4];
      load_right_turned<kColumns * 8 + 8>(right, values, k * 8, n * 8);
#pragma unroll
      for (int t = 0; t < kTall; ++t) {
        add_product_bf16(totals[t][n], share[t], right[0], right[1]);
        add_product_bf16(totals[t][n + 1], share[t], right[2], right[3]);
      }
    }
  }
}

// Results, divided by their weights, to the rows of the warp's queries.
template <int kTall, int kColumns>
__device__ __forceinline__ void causal_bf16_leave(
    const float (&totals)[kTall][kColumns][4], const float (&sums)[kTall][4], __nv_bfloat16* rows) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < 2 * kTall; ++i) {
    const float sum = sums[i / 2][i % 2 * 2];
    const float scale = 1.0f / sum;
    __nv_bfloat16* row = rows + (i * 8 + lane / 4) * (kColumns * 8 + 8) + lane % 4 * 2;
#pragma unroll
    for (int n = 0; n < kColumns; ++n) {
      const float(&two)[4] = totals[i / 2][n];
      const unsigned both = pair_bf16(two[i % 2 * 2] * scale, two[i % 2 * 2 + 1] * scale);
      *reinterpret_cast<unsigned*>(row + n * 8) = both;
    }
  }
  __syncwarp();
}

// out0: a warp keeps some queries' results while keys pass by.
// One long kernel: its steps share what is kept in registers and shared memory.
template <typename Index, int kHead, int kTall, int kN, int kQVec, int kKVec, int kVVec, int kOVec>
__global__ void __launch_bounds__(32 * WARPS) causal_bf16(const __nv_bfloat16* __restrict__ q,
                                                          const __nv_bfloat16* __restrict__ k,
                                                          const __nv_bfloat16* __restrict__ v,
                                                          __nv_bfloat16* __restrict__ out0,
                                                          Index L, Index S) {
  constexpr int kThreads = 32 * WARPS, kM = WARPS * 16 * kTall;
  // An odd number of 16-byte words: eight rows of a matrix lie in all banks.
  constexpr int kPitch = kHead + 8;
  extern __shared__ __align__(16) unsigned char tile_bytes[];
  __nv_bfloat16* queries_tile = reinterpret_cast<__nv_bfloat16*>(tile_bytes);
  __nv_bfloat16* keys_tile = queries_tile + kM * kPitch;
  __nv_bfloat16* values_tile = keys_tile + 2 * kN * kPitch;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Index tiles_m = (L + kM - 1) / kM;
  const Index batch = blockIdx.x / tiles_m;
  const Index first_m = (tiles_m - 1 - blockIdx.x % tiles_m) * kM;
  const Index reach = first_m + kM;
  const Index end = reach < S ? reach : S;
  const Index warp_m = first_m + warp * 16 * kTall;
  __nv_bfloat16* rows = queries_tile + warp * 16 * kTall * kPitch;
  const auto fetch_queries = [&](Index from, int to) {
    constexpr int kPacks = kM * kHead / kQVec;
    #pragma unroll (kQVec > 1 ? 16 : 2)
    for (int each = 0; each < kPacks; each += kThreads) {
      if (kPacks % kThreads != 0 && each + threadIdx.x >= kPacks) break;
      const int2 place = pack_place<kHead / kQVec, kThreads>(each);
      const int at_outer = place.y, di = place.x * kQVec;
      const Index mi = from + at_outer;
      const bool within = mi < L && di < 64;
      __nv_bfloat16* slot = queries_tile + (to * kM + at_outer) * kPitch + di;
      copy_async<kQVec>(slot, q + 64 * L * batch + di + 64 * mi, within);
    }
  };
  const auto fetch_keys = [&](Index from, int to) {
    constexpr int kPacks = kN * kHead / kKVec;
    #pragma unroll (kKVec > 1 ? 16 : 2)
    for (int each = 0; each < kPacks; each += kThreads) {
      if (kPacks % kThreads != 0 && each + threadIdx.x >= kPacks) break;
      const int2 place = pack_place<kHead / kKVec, kThreads>(each);
      const int at_outer = place.y, di = place.x * kKVec;
      const Index ni = from + at_outer;
      const bool within = ni < S && di < 64;
      __nv_bfloat16* slot = keys_tile + (to * kN + at_outer) * kPitch + di;
      copy_async<kKVec>(slot, k + 64 * S * batch + di + 64 * ni, within);
    }
  };
  const auto fetch_values = [&](Index from, int to) {
    constexpr int kPacks = kN * kHead / kVVec;
    #pragma unroll (kVVec > 1 ? 16 : 2)
    for (int each = 0; each < kPacks; each += kThreads) {
      if (kPacks % kThreads != 0 && each + threadIdx.x >= kPacks) break;
      const int2 place = pack_place<kHead / kVVec, kThreads>(each);
      const int at_outer = place.y, fi = place.x * kVVec;
      const Index ni = from + at_outer;
      const bool within = ni < S && fi < 64;
      __nv_bfloat16* slot = values_tile + (to * kN + at_outer) * kPitch + fi;
      copy_async<kVVec>(slot, v + 64 * S * batch + fi + 64 * ni, within);
    }
  };
  fetch_queries(first_m, 0);
  fetch_keys(0, 0);
  fetch_values(0, 0);
  await_copies();
  __syncthreads();
  // Kept in registers where there is room.
  constexpr int kSteps = kTall * kHead <= 128 ? kHead / 16 : 1;
  unsigned left[kTall][kSteps][4];
  #pragma unroll
  for (int k = 0; k < kSteps; ++k) causal_bf16_load<kHead>(left, rows, k);
  const float steep = 0.125f * 1.44269504f;
  float sums[kTall][4] = {}, totals[kTall][kHead / 8][4] = {};
  float from[kTall][4] = {}, limits[2 * kTall];
  #pragma unroll
  for (int i = 0; i < 2 * kTall; ++i) limits[i] = -__int_as_float(0x7f800000);
  int turn = 0;
  for (Index start = 0; start < end; start += kN, turn ^= 1) {
    if (start + kN < end) {
      fetch_keys(start + kN, turn ^ 1);
      fetch_values(start + kN, turn ^ 1);
    }
    float dots[kTall][kN / 8][4];
    causal_bf16_scores<kHead>(dots, from, left, rows, keys_tile + turn * kN * kPitch);
    const Index room = warp_m - start;
    if (room + 1 < kN) causal_bf16_hide_later(dots, room);
    if (start + kN > S) causal_bf16_hide(dots, static_cast<int>(S - start));
    causal_bf16_lift(dots, from, limits, sums, totals, steep);
    causal_bf16_mix(totals, sums, dots, values_tile + turn * kN * kPitch, steep);
    await_copies();
    __syncthreads();
  }
  causal_bf16_leave(totals, sums, rows);
  for (int own = lane; own < 16 * kTall * (kHead / kOVec); own += 32) {
    const int at_outer = own / (kHead / kOVec);
    const int at_inner = own % (kHead / kOVec) * kOVec;
    const Index mi = warp_m + at_outer;
    if (mi >= L || at_inner >= 64) continue;
    auto outcomes = *reinterpret_cast<Pack<__nv_bfloat16, kOVec>*>(rows + at_outer * kPitch +
        at_inner);
    #pragma unroll
    for (int each = 0; each < kOVec; ++each) {
      const Index fi = at_inner + each;
      const float outcome = __bfloat162float(outcomes.at[each]);
      outcomes.at[each] = __float2bfloat16(outcome);
    }
    const Index fi = at_inner;
    *reinterpret_cast<Pack<__nv_bfloat16, kOVec>*>(out0 + 64 * L * batch + fi + 64 * mi) = outcomes;
  }
}

// The thread's scores take what one piece of queries and keys gives, row by row.
template <int kK, int kM, int kAcross, int kPitch>
__device__ __forceinline__ void causal_bf16_plain_compare(
    const float (*left)[kPitch], const float (*right)[kPitch], float (&dots)[8][8]) {
  const int row = threadIdx.x / kAcross, column = threadIdx.x % kAcross;
#pragma unroll 2
  for (int k = 0; k < kK; k += 4) {
    float b[8][4];
#pragma unroll
    for (int i = 0; i < 32; ++i) b[i / 4][i % 4] = right[i / 4 * kAcross + column][k + i % 4];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      float a[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) a[j] = left[i / 4 * (kM / 2) + row * 4 + i % 4][k + j];
#pragma unroll
      for (int j = 0; j < 32; ++j) dots[i][j % 8] += a[j / 8] * b[j % 8][j / 8];
    }
  }
}

// The thread's results take what some keys' shares and values give.
template <int kK, int kM, int kAcross, int kRows, int kColumns>
__device__ __forceinline__ void causal_bf16_plain_multiply(
    const float (*left)[kRows], const float (*right)[kColumns], float (&sums)[8][8]) {
  const int row = threadIdx.x / kAcross, column = threadIdx.x % kAcross;
#pragma unroll 4
  for (int k = 0; k < kK; ++k) {
    float a[8], b[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) a[i] = left[k][i / 4 * (kM / 2) + row * 4 + i % 4];
#pragma unroll
    for (int i = 0; i < 8; ++i) b[i] = right[k][i / 4 * (kAcross * 4) + column * 4 + i % 4];
#pragma unroll
    for (int i = 0; i < 64; ++i) sums[i / 8][i % 8] += a[i / 8] * b[i % 8];
  }
}

// Scores become exponentials against the largest so far, for all to see; where that has grown, what
// was summed before is worth less.
template <int kM, int kAcross, int kRows>
__device__ __forceinline__ void causal_bf16_plain_weigh(
    float (&dots)[8][8], float (&tops)[8], float (&sums)[8], float (&totals)[8][8],
    float (*shares)[kRows]) {
  const int row = threadIdx.x / kAcross, column = threadIdx.x % kAcross;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    float top = tops[i];
#pragma unroll
    for (int j = 0; j < 8; ++j) top = fmaxf(top, dots[i][j]);
#pragma unroll
    for (int by = 1; by < kAcross; by *= 2) {
      top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, by));
    }
    const float off = top == -__int_as_float(0x7f800000) ? 0.0f : top;
    const float fade = exact_power_of_two((tops[i] - off) * 1.44269504f);
    tops[i] = top;
    sums[i] *= fade;
#pragma unroll
    for (int j = 0; j < 8; ++j) totals[i][j] *= fade;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      dots[i][j] = exact_power_of_two((dots[i][j] - off) * 1.44269504f);
      sums[i] += dots[i][j];
    }
  }
#pragma unroll
  for (int j = 0; j < 16; ++j) {
    const int i = j / 8 * 4;
    float* four = &shares[j % 8 * kAcross + column][j / 8 * (kM / 2) + row * 4];
    *reinterpret_cast<float4*>(four) =
        make_float4(dots[i][j % 8], dots[i + 1][j % 8], dots[i + 2][j % 8], dots[i + 3][j % 8]);
  }
}

// out0: a block keeps some queries' results while keys pass by.
// One long kernel: its steps share what is kept in registers and shared memory.
template <typename Index, int kM, int kF, int kVec>
__global__ void __launch_bounds__(kM * kF / 64) causal_bf16_plain(
                                                            const __nv_bfloat16* __restrict__ q,
                                                            const __nv_bfloat16* __restrict__ k,
                                                            const __nv_bfloat16* __restrict__ v,
                                                            __nv_bfloat16* __restrict__ out0,
                                                            Index L, Index S) {
  constexpr int kN = kF, kK = 32, kAcross = kF / 8, kThreads = kM / 8 * kAcross;
  extern __shared__ __align__(16) unsigned char tile_bytes[];
  float* stage = reinterpret_cast<float*>(tile_bytes);
  float (*shares)[kM + 4] = reinterpret_cast<float (*)[kM + 4]>(stage);
  constexpr int kPitch = kK + 4, kBoth = kPitch * (kM + kN), kOne = kK * (kF + 4);
  constexpr int kPiece = kBoth > kOne ? kBoth : kOne;
  float* pieces = stage + kN * (kM + 4);
  const Index tiles_m = (L + kM - 1) / kM;
  const Index batch = blockIdx.x / tiles_m;
  const Index first_m = (tiles_m - 1 - blockIdx.x % tiles_m) * kM;
  const Index reach = first_m + kM;
  const Index end = reach < S ? reach : S;
  const Index first_f = static_cast<Index>(blockIdx.y) * kF;
  const int row = threadIdx.x / kAcross, column = threadIdx.x % kAcross;
  const auto fetch_scores = [&](Index start, Index from, int to) {
    float (*left)[kPitch] = reinterpret_cast<float (*)[kPitch]>(pieces + to * kPiece);
    float (*right)[kPitch] =
        reinterpret_cast<float (*)[kPitch]>(pieces + to * kPiece + kM * kPitch);
    #pragma unroll 4
    for (int each = 0; each < kM * kK / 1; each += kThreads) {
      const int2 place = pack_place<kK / 1, kThreads>(each);
      const int at = place.y, at_k = place.x * 1;
      const Index mi = first_m + at, di = from + at_k;
      const bool within = mi < L && di < 64;
      left[at][at_k] = 0.0f;
      if (within) {
        const float q_value = __bfloat162float(q[64 * L * batch + di + 64 * mi]);
        left[at][at_k] = q_value;
      }
    }
    #pragma unroll 4
    for (int each = 0; each < kN * kK / 1; each += kThreads) {
      const int2 place = pack_place<kK / 1, kThreads>(each);
      const int at = place.y, at_k = place.x * 1;
      const Index ni = start + at, di = from + at_k;
      const bool within = ni < S && di < 64;
      right[at][at_k] = 0.0f;
      if (within) {
        const float k_value = __bfloat162float(k[64 * S * batch + di + 64 * ni]);
        right[at][at_k] = k_value;
      }
    }
  };
  const auto fetch_values = [&](Index start, int from, int to) {
    float (*values_tile)[kF + 4] = reinterpret_cast<float (*)[kF + 4]>(pieces + to * kPiece);
    #pragma unroll 4
    for (int each = 0; each < kK * kF / 1; each += kThreads) {
      const int2 place = pack_place<kF / 1, kThreads>(each);
      const int at_k = place.y, at = place.x * 1;
      const Index ni = start + from + at_k, fi = first_f + at;
      const bool within = ni < S && fi < 64;
      values_tile[at_k][at] = 0.0f;
      if (within) {
        const float v_value = __bfloat162float(v[64 * S * batch + fi + 64 * ni]);
        values_tile[at_k][at] = v_value;
      }
    }
  };
  float totals[8][8] = {}, sums[8] = {}, tops[8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) tops[i] = -__int_as_float(0x7f800000);
  int turn = 0;
  fetch_scores(0, 0, 0);
  for (Index start = 0; start < end; start += kN) {
    float dots[8][8] = {};
    for (Index from = 0; from == 0 || from < 64; from += kK, turn ^= 1) {
      __syncthreads();
      if (from + kK < 64) fetch_scores(start, from + kK, turn ^ 1);
      else fetch_values(start, 0, turn ^ 1);
      float (*left)[kPitch] = reinterpret_cast<float (*)[kPitch]>(pieces + turn * kPiece);
      float (*right)[kPitch] =
          reinterpret_cast<float (*)[kPitch]>(pieces + turn * kPiece + kM * kPitch);
      causal_bf16_plain_compare<kK, kM, kAcross>(left, right, dots);
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
      const Index own_m = first_m + i / 4 * (kM / 2) + row * 4 + i % 4;
      const Index mi = own_m < L ? own_m : L - 1;
      const long long iota_value = static_cast<long long>(mi);
      #pragma unroll
      for (int each = 0; each < 8; ++each) {
        const Index own_n = start + each * kAcross + column;
        const Index ni = own_n < S ? own_n : S - 1;
        const float choice = (iota_value >= static_cast<long long>(ni)) ?
            (dots[i][each] * 0.125f) : -__int_as_float(0x7f800000);
        dots[i][each] = own_n < S ? choice : -__int_as_float(0x7f800000);
      }
    }
    causal_bf16_plain_weigh<kM, kAcross>(dots, tops, sums, totals, shares);
    for (int from = 0; from < kN; from += kK, turn ^= 1) {
      __syncthreads();
      if (from + kK < kN) fetch_values(start, from + kK, turn ^ 1);
      else if (start + kN < end) fetch_scores(start + kN, 0, turn ^ 1);
      float (*values_tile)[kF + 4] = reinterpret_cast<float (*)[kF + 4]>(pieces + turn * kPiece);
      causal_bf16_plain_multiply<kK, kM, kAcross>(shares + from, values_tile, totals);
    }
  }
  #pragma unroll
  for (int i = 0; i < 8; ++i) {
    #pragma unroll
    for (int by = 1; by < kAcross; by *= 2) sums[i] += __shfl_xor_sync(0xffffffffu, sums[i], by);
    const Index mi = first_m + i / 4 * (kM / 2) + row * 4 + i % 4;
    if (mi < L) {
      const float per_sum = 1.0f / sums[i];
      #pragma unroll
      for (int each = 0; each < 8; ++each) {
        const Index fi = first_f + each / 4 * (kF / 2) + column * 4 + each % 4;
        const float outcome = totals[i][each] * per_sum;
        if (fi < 64) {
          out0[64 * L * batch + fi + 64 * mi] = __float2bfloat16(outcome);
        }
      }
    }
  }
}
