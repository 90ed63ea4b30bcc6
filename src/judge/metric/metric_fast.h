// The metric's loop for chunks without rare cases, compiled once per x86-64 level. It gives the
// same numbers as the loop in metric.cpp, or declines. Internal to this module.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace kw::metric {

inline constexpr size_t kFastChunk = 4096;  // the most elements per chunk

/// Elements of an fp32, fp16 or bf16 output without discontinuities, overflow or exact results.
struct FastChunk {
  tensor::DType dtype = tensor::DType::Fp32;
  const std::byte* got = nullptr;
  const double* want = nullptr;
  const float* a = nullptr;  // error of the fp32 path; may be null, like `h`
  const float* h = nullptr;
  size_t count = 0;
  double path_factor = 0, unit = 0, step = 0;  // of the bound: see ports::ElementBound
  // Of the output's format.
  double format_unit = 0, subnormal = 0, smallest_normal = 0;
};

/// Sums over the elements that differ from the rounded truth.
struct FastSums {
  double sum_squares = 0, max_abs = 0, max_rel = 0, max_ulps = 0;
  double max_z = 0;
  size_t worst = 0;  // index of the first element with max_z, if that is not 0
  int64_t telling = 0;
};

/// Returns false, without counting, when an element is not finite or not within its bound.
using FastJudge = bool (*)(const FastChunk& chunk, FastSums* sums);
/// Returns the loop for this CPU.
FastJudge fast_judge();

#define KW_VERIFY_DECLARE_LEVEL(level)                      \
  namespace level {                                         \
  bool judge_chunk(const FastChunk& chunk, FastSums* sums); \
  }
KW_VERIFY_DECLARE_LEVEL(v2)
#ifdef KW_ONE_SIMD_LEVEL
namespace v3 = v2;
namespace v4 = v2;
#else
KW_VERIFY_DECLARE_LEVEL(v3)
KW_VERIFY_DECLARE_LEVEL(v4)
#endif
#undef KW_VERIFY_DECLARE_LEVEL

}  // namespace kw::metric
