// Shared by the f32 handlers: flushing subnormals, saturation, the canonical NaN, ordering.
// Per-level code only.
#pragma once

#include <bit>
#include <cstdint>

#include "isa/lanes.h"

namespace kw::isa::KW_SIMD_LEVEL {

inline constexpr uint32_t kNan32 = 0x7fffffffu;

KW_LANE uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
KW_LANE uint64_t bits(double x) { return std::bit_cast<uint64_t>(x); }
KW_LANE float as_float(uint32_t x) { return std::bit_cast<float>(x); }
KW_LANE double as_double(uint64_t x) { return std::bit_cast<double>(x); }

/// Subnormals become zero with the same sign.
KW_LANE float flush(float x) {
  const uint32_t u = bits(x);
  return as_float((u & 0x7f800000u) == 0 ? u & 0x80000000u : u);
}
template <bool kFtz>
KW_LANE float input(float x) {
  return kFtz ? flush(x) : x;
}
/// Clamps to [0, 1]; NaN and negative zero become +0.
KW_LANE float saturate(float x) {
  const float low = x > 0.0f ? x : 0.0f;
  return low < 1.0f ? low : 1.0f;
}
KW_LANE double saturate(double x) {
  const double low = x > 0.0 ? x : 0.0;
  return low < 1.0 ? low : 1.0;
}
KW_LANE float canonical(float x) { return x != x ? as_float(kNan32) : x; }

/// The result of an f32 operation as PTX defines it.
template <bool kFtz, bool kSat>
KW_LANE float output(float x) {
  const float flushed = kFtz ? flush(x) : x;
  return kSat ? saturate(flushed) : canonical(flushed);
}

/// Whether a product or quotient, computed with a factor of 2^64, is below the smallest normal
/// number. Hardware flushes a result that is still below it after rounding to 24 bits with an
/// unlimited exponent. A subnormal has fewer bits, so rounding there may have raised it to the
/// normal number.
KW_LANE bool is_tiny(float scaled) { return (scaled < 0.0f ? -scaled : scaled) < 0x1p-62f; }
inline constexpr float kTinyScale = 0x1p64f;

/// The result of a multiplication, division or fma as PTX defines it.
template <bool kFtz, bool kSat>
KW_LANE float output(float x, bool tiny) {
  const float flushed = kFtz && tiny ? as_float(bits(x) & 0x80000000u) : x;
  return output<kFtz, kSat>(flushed);
}

/// Orders floats as integers, -0 below +0. Not for NaN.
KW_LANE int32_t order(float x) {
  const int32_t i = static_cast<int32_t>(bits(x));
  return i ^ ((i >> 31) & 0x7fffffff);
}
KW_LANE int64_t order(double x) {
  const int64_t i = static_cast<int64_t>(bits(x));
  return i ^ ((i >> 63) & 0x7fffffffffffffff);
}

enum class NanRule { Other, Propagate };  // min/max of a number and NaN: the number, or NaN

/// The smaller or larger of two. Two NaN, or one with Propagate, give `nan`.
template <bool kMax, NanRule kRule, class T>
KW_LANE T extreme(T a, T b, T nan) {
  const bool first = kMax ? order(a) > order(b) : order(a) < order(b);
  const bool nan_a = a != a, nan_b = b != b;
  const T number = first ? a : b;
  const T other = nan_a ? b : (nan_b ? a : number);
  const bool undefined = kRule == NanRule::Propagate ? (nan_a | nan_b) : (nan_a & nan_b);
  return undefined ? nan : other;
}

}  // namespace kw::isa::KW_SIMD_LEVEL
