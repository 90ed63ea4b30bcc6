//! kernelwright 1
//! task    by_hand_fp32
//! input   q: fp32[2, L, D]
//! input   k: fp32[2, D, S]
//! input   v: fp32[2, S, F]
//! input   seen: bool[2, 1, S]
//! output  out0: fp32[2, L, F]
//! let     COLUMNS = pick(F > 64, 64, 128)
//! let     ROWS_BLOCK = pick(ROWS_PLAIN + COLUMNS > 192, ROWS_PLAIN, pick(SMEM_MAX < 141312, ROWS_PLAIN, 64))
//! let     PLAIN_BYTES = 4 * (COLUMNS * (ROWS_BLOCK + 4) + 8 * max(9 * (ROWS_BLOCK + COLUMNS), 8 * (COLUMNS + 4)))
//! tune    ROWS_PLAIN in 64, 128
//! method  memory.kernel_fusion
//! method  memory.tiling_smem
//! method  compute.ilp_unroll_register_tile
//! method  latency.online_recomputation
//! method  memory.vectorized_access
//! when    (D * L) % 4 == 0 && D % 4 == 0 && (F * S) % 4 == 0 && F % 4 == 0 && 2 * F * L <= 2000000000 && 2 * L * S <= 2000000000 && 2 * D * L <= 2000000000 && 2 * D * S <= 2000000000 && 2 * S <= 2000000000 && 2 * L <= 2000000000 && 2 * F * S <= 2000000000
//! launch  by_hand_fp32<int, ROWS_BLOCK, COLUMNS, 4> grid(2 * ceil_div(L, ROWS_BLOCK), ceil_div(F, COLUMNS)) block(ROWS_BLOCK * COLUMNS / 64) shared(PLAIN_BYTES) args(q, k, v, seen, out0, D, F, L, S)
//! when    2 * F * L <= 2000000000 && 2 * L * S <= 2000000000 && 2 * D * L <= 2000000000 && 2 * D * S <= 2000000000 && 2 * S <= 2000000000 && 2 * L <= 2000000000 && 2 * F * S <= 2000000000
//! launch  by_hand_fp32<int, ROWS_BLOCK, COLUMNS, 1> grid(2 * ceil_div(L, ROWS_BLOCK), ceil_div(F, COLUMNS)) block(ROWS_BLOCK * COLUMNS / 64) shared(PLAIN_BYTES) args(q, k, v, seen, out0, D, F, L, S)
//! when    true
//! launch  by_hand_fp32<long long, ROWS_BLOCK, COLUMNS, 1> grid(2 * ceil_div(L, ROWS_BLOCK), ceil_div(F, COLUMNS)) block(ROWS_BLOCK * COLUMNS / 64) shared(PLAIN_BYTES) args(q, k, v, seen, out0, D, F, L, S)

// Generated for task by_hand_fp32: by_hand_fp32=attention.

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

// The thread's scores take what one piece of queries and keys gives, row by row.
template <int kK, int kM, int kAcross, int kPitch>
__device__ __forceinline__ void by_hand_fp32_compare(
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
__device__ __forceinline__ void by_hand_fp32_multiply(
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
__device__ __forceinline__ void by_hand_fp32_weigh(
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
__global__ void __launch_bounds__(kM * kF / 64) by_hand_fp32(const float* __restrict__ q,
    const float* __restrict__ k, const float* __restrict__ v,
    const unsigned char* __restrict__ seen, float* __restrict__ out0, Index D, Index F, Index L,
    Index S) {
  constexpr int kN = kF, kK = 32, kAcross = kF / 8, kThreads = kM / 8 * kAcross;
  extern __shared__ __align__(16) unsigned char tile_bytes[];
  float* stage = reinterpret_cast<float*>(tile_bytes);
  float (*shares)[kM + 4] = reinterpret_cast<float (*)[kM + 4]>(stage);
  constexpr int kPitch = kK + 4, kBoth = kPitch * (kM + kN), kOne = kK * (kF + 4);
  constexpr int kPiece = kBoth > kOne ? kBoth : kOne;
  float* pieces = stage + kN * (kM + 4);
  const Index tiles_m = (L + kM - 1) / kM;
  const Index batch = blockIdx.x / tiles_m;
  const Index first_m = blockIdx.x % tiles_m * kM;
  const Index end = S;
  const Index first_f = static_cast<Index>(blockIdx.y) * kF;
  const int row = threadIdx.x / kAcross, column = threadIdx.x % kAcross;
  const auto fetch_scores = [&](Index start, Index from, int to) {
    float (*left)[kPitch] = reinterpret_cast<float (*)[kPitch]>(pieces + to * kPiece);
    float (*right)[kPitch] =
        reinterpret_cast<float (*)[kPitch]>(pieces + to * kPiece + kM * kPitch);
    #pragma unroll 4
    for (int each = 0; each < kM * kK / kVec; each += kThreads) {
      const int2 place = pack_place<kK / kVec, kThreads>(each);
      const int at = place.y, at_k = place.x * kVec;
      const Index mi = first_m + at, di = from + at_k;
      const bool within = mi < L && di < D;
      copy_async<kVec>(&left[at][at_k], q + D * L * batch + D * mi + di, within);
    }
    #pragma unroll 4
    for (int each = 0; each < kN * kK / 1; each += kThreads) {
      const int2 place = pack_place<kN / 1, kThreads>(each);
      const int at = place.x, at_k = place.y * 1;
      const Index ni = start + at, di = from + at_k;
      const bool within = ni < S && di < D;
      copy_async<1>(&right[at][at_k], k + D * S * batch + S * di + ni, within);
    }
  };
  const auto fetch_values = [&](Index start, int from, int to) {
    float (*values_tile)[kF + 4] = reinterpret_cast<float (*)[kF + 4]>(pieces + to * kPiece);
    #pragma unroll 4
    for (int each = 0; each < kK * kF / kVec; each += kThreads) {
      const int2 place = pack_place<kF / kVec, kThreads>(each);
      const int at_k = place.y, at = place.x * kVec;
      const Index ni = start + from + at_k, fi = first_f + at;
      const bool within = ni < S && fi < F;
      copy_async<kVec>(&values_tile[at_k][at], v + F * S * batch + F * ni + fi, within);
    }
  };
  float totals[8][8] = {}, sums[8] = {}, tops[8];
  #pragma unroll
  for (int i = 0; i < 8; ++i) tops[i] = -__int_as_float(0x7f800000);
  int turn = 0;
  fetch_scores(0, 0, 0);
  for (Index start = 0; start < end; start += kN) {
    float dots[8][8] = {};
    for (Index from = 0; from == 0 || from < D; from += kK, turn ^= 1) {
      await_copies();
      __syncthreads();
      if (from + kK < D) fetch_scores(start, from + kK, turn ^ 1);
      else fetch_values(start, 0, turn ^ 1);
      float (*left)[kPitch] = reinterpret_cast<float (*)[kPitch]>(pieces + turn * kPiece);
      float (*right)[kPitch] =
          reinterpret_cast<float (*)[kPitch]>(pieces + turn * kPiece + kM * kPitch);
      by_hand_fp32_compare<kK, kM, kAcross>(left, right, dots);
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
      const Index own_m = first_m + i / 4 * (kM / 2) + row * 4 + i % 4;
      const Index mi = own_m < L ? own_m : L - 1;
      #pragma unroll
      for (int each = 0; each < 8; ++each) {
        const Index own_n = start + each * kAcross + column;
        const Index ni = own_n < S ? own_n : S - 1;
        const float choice = (!(seen[S * batch + ni] != 0)) ? -__int_as_float(0x7f800000) :
            (dots[i][each] * 0.1f);
        dots[i][each] = own_n < S ? choice : -__int_as_float(0x7f800000);
      }
    }
    by_hand_fp32_weigh<kM, kAcross>(dots, tops, sums, totals, shares);
    for (int from = 0; from < kN; from += kK, turn ^= 1) {
      await_copies();
      __syncthreads();
      if (from + kK < kN) fetch_values(start, from + kK, turn ^ 1);
      else if (start + kN < end) fetch_scores(start + kN, 0, turn ^ 1);
      float (*values_tile)[kF + 4] = reinterpret_cast<float (*)[kF + 4]>(pieces + turn * kPiece);
      by_hand_fp32_multiply<kK, kM, kAcross>(shares + from, values_tile, totals);
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
        if (fi < F) {
          out0[F * L * batch + F * mi + fi] = outcome;
        }
      }
    }
  }
}
