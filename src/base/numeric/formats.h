// Float formats as data, and the one rounding routine that all conversions share. It converts a
// binary32 or binary64 bit pattern, or an integer, to any format that is not wider. It rounds once.
// It has no branches, so that lane loops vectorise. Not for arithmetic: the callers compute in host
// floats.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "numeric/level.h"

namespace kw::numeric {

/// How a value between two neighbours is rounded. NearestAway rounds ties away from zero.
enum class Round : uint8_t { Nearest, Zero, Down, Up, NearestAway };

/// The result for a value too large for the format. Infinity gives NaN when the format has no
/// infinity. Saturate gives the largest value.
enum class Overflow : uint8_t { Infinity, Saturate };

/// A format with 1 sign bit, `exponent` and `mantissa` bits. `infinity` and `nan` are bit patterns
/// without sign. They are equal in formats that have no infinity.
template <int kExponent, int kMantissa, uint32_t kMaxFinite, uint32_t kInfinity, uint32_t kNan>
struct Format {
  static constexpr int exponent = kExponent;
  static constexpr int mantissa = kMantissa;
  static constexpr int bits = 1 + kExponent + kMantissa;
  static constexpr int bias = (1 << (kExponent - 1)) - 1;
  static constexpr uint32_t max_finite = kMaxFinite;
  static constexpr uint32_t infinity = kInfinity;
  static constexpr uint32_t nan = kNan;
  static constexpr bool has_infinity = kInfinity != kNan;
};

using Fp32 = Format<8, 23, 0x7f7fffff, 0x7f800000, 0x7fffffff>;
using Fp16 = Format<5, 10, 0x7bff, 0x7c00, 0x7fff>;
using Bf16 = Format<8, 7, 0x7f7f, 0x7f80, 0x7fff>;
using Tf32 = Format<8, 10, 0x3fbff, 0x3fc00, 0x3ffff>;  // the upper 19 bits of a binary32
using E4m3 = Format<4, 3, 0x7e, 0x7f, 0x7f>;
using E5m2 = Format<5, 2, 0x7b, 0x7c, 0x7f>;
using E2m1 = Format<2, 1, 0x7, 0x7, 0x7>;  // no infinity, no NaN: both become the largest value

inline namespace KW_NUMERIC_LEVEL {

/// Whether a magnitude is rounded up to the next one. `odd` is its last kept bit.
template <Round kRound>
KW_LANE constexpr bool rounds_up(bool odd, bool inexact, bool above_half, bool at_half,
                                 bool negative) {
  if constexpr (kRound == Round::Nearest) return above_half | (at_half & odd);
  if constexpr (kRound == Round::NearestAway) return above_half | at_half;
  if constexpr (kRound == Round::Up) return inexact & !negative;
  if constexpr (kRound == Round::Down) return inexact & negative;
  return false;
}

/// The magnitude that is used when |x| exceeds the largest finite value.
template <class To, Round kRound, Overflow kOverflow>
KW_LANE constexpr uint32_t overflow_bits(bool negative) {
  if constexpr (kOverflow == Overflow::Saturate || kRound == Round::Zero) return To::max_finite;
  if constexpr (kRound == Round::Up) return negative ? To::max_finite : To::infinity;
  if constexpr (kRound == Round::Down) return negative ? To::infinity : To::max_finite;
  return To::infinity;
}

/// Converts the bits of binary32 (uint32_t) or binary64 (uint64_t) to bits of `To`, rounded once.
/// NaN gives To::nan without sign.
template <class To, Round kRound, Overflow kOverflow, class Bits>
KW_LANE constexpr uint32_t round_bits(Bits source) {
  constexpr int kWidth = std::numeric_limits<Bits>::digits;
  constexpr int kMantissa = kWidth == 32 ? 23 : 52;
  constexpr int kBias = kWidth == 32 ? 127 : 1023;
  constexpr Bits kInfinity = Bits(2 * kBias + 1) << kMantissa;
  constexpr int kDrop = kMantissa - To::mantissa;
  static_assert(kDrop > 0);

  const bool negative = (source >> (kWidth - 1)) != 0;
  const Bits magnitude = source & (Bits(-1) >> 1);
  const int biased = static_cast<int>(magnitude >> kMantissa);
  const Bits significand =
      (magnitude & ((Bits(1) << kMantissa) - 1)) | (Bits(biased != 0) << kMantissa);
  const int exponent = (biased != 0 ? biased : 1) - kBias + To::bias;  // 1: smallest normal of To
  const int below = exponent < 1 ? 1 - exponent : 0;
  const int drop = kDrop + below < kMantissa + 3 ? kDrop + below : kMantissa + 3;
  const Bits kept = significand >> drop;
  const Bits rest = significand & ((Bits(1) << drop) - 1);
  const Bits half = Bits(1) << (drop - 1);
  const bool up =
      rounds_up<kRound>((kept & 1) != 0, rest != 0, rest > half, rest == half, negative);
  constexpr int kTooLarge =
      1 << To::exponent;  // larger values overflow anyway; keeps the shift in range
  const int limited = exponent < kTooLarge ? exponent : kTooLarge;
  const uint32_t base = static_cast<uint32_t>(limited < 1 ? 0 : limited - 1) << To::mantissa;
  uint32_t result = static_cast<uint32_t>(kept) + static_cast<uint32_t>(up) + base;
  result = result > To::max_finite ? overflow_bits<To, kRound, kOverflow>(negative) : result;
  constexpr uint32_t kFromInfinity =
      kOverflow == Overflow::Saturate ? To::max_finite : To::infinity;
  result = magnitude == kInfinity ? kFromInfinity : result;
  result |= static_cast<uint32_t>(negative) << (To::bits - 1);
  return magnitude > kInfinity ? To::nan : result;
}

/// Converts an integer, given as magnitude and sign, to bits of `To`, rounded once.
template <class To, Round kRound, Overflow kOverflow = Overflow::Infinity>
KW_LANE constexpr uint32_t round_integer(uint64_t magnitude, bool negative) {
  constexpr int kDrop = 63 - To::mantissa;
  const int shift = std::countl_zero(magnitude | 1);
  const uint64_t normal = magnitude << shift;
  const uint64_t kept = normal >> kDrop;
  const uint64_t rest = normal & ((uint64_t(1) << kDrop) - 1);
  constexpr uint64_t kHalf = uint64_t(1) << (kDrop - 1);
  const bool up =
      rounds_up<kRound>((kept & 1) != 0, rest != 0, rest > kHalf, rest == kHalf, negative);
  const uint32_t base = static_cast<uint32_t>(63 - shift + To::bias - 1) << To::mantissa;
  uint32_t result = static_cast<uint32_t>(kept) + static_cast<uint32_t>(up) + base;
  result = result > To::max_finite ? overflow_bits<To, kRound, kOverflow>(negative) : result;
  result |= static_cast<uint32_t>(negative) << (To::bits - 1);
  return magnitude == 0 ? 0 : result;
}

/// Converts an integer to bits of binary64, rounded once.
template <Round kRound>
KW_LANE constexpr uint64_t round_integer_to_double(uint64_t magnitude, bool negative) {
  const int shift = std::countl_zero(magnitude | 1);
  const uint64_t normal = magnitude << shift;
  const uint64_t kept = normal >> 11, rest = normal & 0x7ff;
  const bool up =
      rounds_up<kRound>((kept & 1) != 0, rest != 0, rest > 0x400, rest == 0x400, negative);
  const uint64_t base = static_cast<uint64_t>(63 - shift + 1023 - 1) << 52;
  const uint64_t result = kept + static_cast<uint64_t>(up) + base;
  return magnitude == 0 ? 0 : result | static_cast<uint64_t>(negative) << 63;
}

/// Converts bits of a format narrower than binary32 to float. The result is exact. NaN becomes a
/// quiet NaN with the source's sign and payload.
template <class From>
KW_LANE constexpr float widen(uint32_t source) {
  constexpr uint32_t kSign = uint32_t(1) << (From::bits - 1);
  constexpr int kShift = 23 - From::mantissa;
  const uint32_t sign = (source & kSign) << (32 - From::bits);
  const uint32_t magnitude = source & (kSign - 1);
  uint32_t bits = magnitude << kShift;
  if constexpr (From::bias != 127) {
    // Multiplying by a power of two moves the exponent and also normalises subnormals of the
    // format.
    constexpr float kScale = std::bit_cast<float>(static_cast<uint32_t>(254 - From::bias) << 23);
    bits = std::bit_cast<uint32_t>(std::bit_cast<float>(bits) * kScale);
    if constexpr (From::has_infinity) {
      const uint32_t special = 0x7f800000u | (magnitude << kShift);
      bits = magnitude >= From::infinity ? special : bits;
    } else if constexpr (From::max_finite != From::nan) {
      bits = magnitude == From::nan ? 0x7fffffffu : bits;
    }
  }
  return std::bit_cast<float>(bits | sign);
}

}  // namespace KW_NUMERIC_LEVEL
}  // namespace kw::numeric
