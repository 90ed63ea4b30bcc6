// The problem: the inner steps of attention do not depend on the graph. The choice: they are texts
// with a few words replaced, which read like the CUDA code they are. The alternative, writing them
// line by line through CudaWriter, would hide their structure. The cost: a marker must not occur as
// a separate word.
#include "attention/attention_steps.h"

#include "core/text.h"

namespace kw::generate {

namespace {

// Arrays over the warp's queries have kTall parts of 16 rows; keys and columns are in groups of
// eight. A lane holds two adjacent elements of rows lane / 4 and lane / 4 + 8 of every 16 x 8
// matrix.
constexpr const char* kSteps =
    R"(// The warp's queries along step k, as left operands.
template <int kHead, int kTall, int kSteps>
__device__ __forceinline__ void @_load(
    unsigned (&left)[kTall][kSteps][4], const HALF* queries, int k) {
#pragma unroll
  for (int t = 0; t < kTall; ++t) {
    load_left<kHead + 8>(left[t][k % kSteps], queries, t * 16, k * 16);
  }
}

// Their products with a tile of keys, added to `from`. Queries that had no room in registers are
// loaded again.
template <int kHead, int kTall, int kSteps, int kEights>
__device__ __forceinline__ void @_scores(
    float (&dots)[kTall][kEights][4], const float (&from)[kTall][4],
    unsigned (&left)[kTall][kSteps][4], const HALF* queries, const HALF* keys) {
#pragma unroll
  for (int i = 0; i < kTall * kEights * 4; ++i) {
    dots[i / 4 / kEights][i / 4 % kEights][i % 4] = from[i / 4 / kEights][i % 4];
  }
#pragma unroll
  for (int k = 0; k < kHead / 16; ++k) {
    if (kSteps < kHead / 16) @_load<kHead>(left, queries, k);
#pragma unroll
    for (int n = 0; n < kEights; n += 2) {
      unsigned right[4];
      load_right<kHead + 8>(right, keys, n * 8, k * 16);
#pragma unroll
      for (int t = 0; t < kTall; ++t) {
        PRODUCT(dots[t][n], left[t][k % kSteps], right[0], right[1]);
        PRODUCT(dots[t][n + 1], left[t][k % kSteps], right[2], right[3]);
      }
    }
  }
}

// Keys behind the first `count` of a tile weigh nothing.
template <int kTall, int kEights>
__device__ __forceinline__ void @_hide(
    float (&dots)[kTall][kEights][4], int count) {
#pragma unroll
  for (int i = 0; i < kTall * kEights * 4; ++i) {
    const int n = i / 4 % kEights, key = n * 8 + threadIdx.x % 4 * 2 + i % 2;
    if (key >= count) dots[i / 4 / kEights][n][i % 4] = -__int_as_float(0x7f800000);
  }
}

LATER// Scores are those above a level (`from` is minus that), so that none of their powers is more than
// 2^8 or so: where one would be, the level rises to the row's largest, and what was summed before
// is worth less. That is rare once the level has been set.
template <int kTall, int kEights, int kColumns>
__device__ __forceinline__ void @_lift(
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
    const float fade = POWER(-fmaxf(by, 0.0f) * steep);
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
__device__ __forceinline__ void @_mix(
    float (&totals)[kTall][kColumns][4], float (&sums)[kTall][4],
    const float (&dots)[kTall][kEights][4], const HALF* values, float steep) {
#pragma unroll
  for (int k = 0; k < kEights; k += 2) {
    unsigned share[kTall][4];
#pragma unroll
    for (int t = 0; t < kTall; ++t) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float(&two)[4] = dots[t][k + i / 2];
        share[t][i] = PAIR(POWER(two[i % 2 * 2] * steep),
                           POWER(two[i % 2 * 2 + 1] * steep));
      }
      PRODUCT(sums[t], share[t], ONES, ONES);
    }
#pragma unroll
    for (int n = 0; n < kColumns; n += 2) {
      unsigned right[4];
      load_right_turned<kColumns * 8 + 8>(right, values, k * 8, n * 8);
#pragma unroll
      for (int t = 0; t < kTall; ++t) {
        PRODUCT(totals[t][n], share[t], right[0], right[1]);
        PRODUCT(totals[t][n + 1], share[t], right[2], right[3]);
      }
    }
  }
}

// Results, divided by their weights, to the rows of the warp's queries.
template <int kTall, int kColumns>
__device__ __forceinline__ void @_leave(
    const float (&totals)[kTall][kColumns][4], const float (&sums)[kTall][4], HALF* rows) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int i = 0; i < 2 * kTall; ++i) {
    const float sum = sums[i / 2][i % 2 * 2];
    const float scale = INVERSE;
    HALF* row = rows + (i * 8 + lane / 4) * (kColumns * 8 + 8) + lane % 4 * 2;
#pragma unroll
    for (int n = 0; n < kColumns; ++n) {
      const float(&two)[4] = totals[i / 2][n];
      const unsigned both = PAIR(two[i % 2 * 2] * scale, two[i % 2 * 2 + 1] * scale);
      *reinterpret_cast<unsigned*>(row + n * 8) = both;
    }
  }
  __syncwarp();
}

)";

// kAcross threads share a row. A thread's rows are two groups of four, half a tile apart; so are
// its columns. Its keys are kAcross apart, so that eight threads read theirs from all banks.
constexpr const char* kPlainSteps =
    R"(// The thread's scores take what one piece of queries and keys gives, row by row.
template <int kK, int kM, int kAcross, int kPitch>
__device__ __forceinline__ void @_compare(
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
__device__ __forceinline__ void @_multiply(
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
__device__ __forceinline__ void @_weigh(
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

)";

constexpr const char* kHideLater =
    R"(// The first query sees the keys up to `room`, every further one a key more.
template <typename Index, int kTall, int kEights>
__device__ __forceinline__ void @_hide_later(
    float (&dots)[kTall][kEights][4], Index room) {
#pragma unroll
  for (int i = 0; i < kTall * kEights * 4; ++i) {
    const int t = i / 4 / kEights, n = i / 4 % kEights;
    const int key = n * 8 + threadIdx.x % 4 * 2 + i % 2;
    const int row = t * 16 + i % 4 / 2 * 8 + threadIdx.x % 32 / 4;
    if (key > room + row) dots[t][n][i % 4] = -__int_as_float(0x7f800000);
  }
}

)";

std::string pair_of_halves(DType half) { return half == DType::Fp16 ? "pair_fp16" : "pair_bf16"; }

/// fp16 has no results below 2^-126 to lose; bf16 has.
const char* power_function(DType half) {
  return half == DType::Fp16 ? "power_of_two" : "exact_power_of_two";
}

}  // namespace

std::string attention_steps(const std::string& name, DType half, bool causal, bool empty_is_zero) {
  std::string text = kSteps;
  text = replace_all(text, "LATER", causal ? kHideLater : "");
  text = replace_all(text, "PRODUCT", add_product(half));
  text = replace_all(text, "POWER", power_function(half));
  text = replace_all(text, "PAIR", pair_of_halves(half));
  text = replace_all(text, "HALF", memory_type(half));
  text = replace_all(text, "ONES", half == DType::Fp16 ? "0x3c003c00u" : "0x3f803f80u");
  text = replace_all(text, "INVERSE",
                     empty_is_zero ? "sum == 0.0f ? 0.0f : 1.0f / sum" : "1.0f / sum");
  return replace_all(text, "@", name);
}

std::string plain_attention_steps(const std::string& name) {
  return replace_all(kPlainSteps, "@", name);
}

std::vector<std::string> attention_helpers(DType half) {
  return {"pack_place", "load_operands", power_function(half), add_product(half),
          pair_of_halves(half)};
}

}  // namespace kw::generate
