// Named conversions between float or double and bit patterns of fp16, bf16, tf32, fp8, fp4 and
// e8m0. They round to nearest even unless the name says otherwise. For other rounding modes use
// numeric/formats.h.
#pragma once

#include <bit>
#include <cstdint>

#include "numeric/formats.h"

namespace kw::numeric {
inline namespace KW_NUMERIC_LEVEL {

/// Rounds to nearest even without variable shifts, so it vectorises on every level. The format must
/// have a smaller exponent range than binary32. The host must be in its default rounding mode.
template <class To, Overflow kOverflow>
KW_LANE constexpr uint32_t narrow_nearest(float x) {
  static_assert(To::exponent < 8);
  constexpr int kDrop = 23 - To::mantissa;
  constexpr uint32_t kSmallestNormal = static_cast<uint32_t>(128 - To::bias) << 23;
  // A float whose last bit has the weight of the format's last bit: adding it rounds subnormals.
  constexpr uint32_t kMagic = static_cast<uint32_t>(128 - To::bias + kDrop) << 23;
  const uint32_t source = std::bit_cast<uint32_t>(x);
  const uint32_t magnitude = source & 0x7fffffffu;
  const float shifted = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kMagic);
  const uint32_t subnormal = std::bit_cast<uint32_t>(shifted) - kMagic;
  const uint32_t tie = (magnitude >> kDrop) & 1u;
  const uint32_t rebased = magnitude - (static_cast<uint32_t>(127 - To::bias) << 23);
  const uint32_t normal = (rebased + ((1u << (kDrop - 1)) - 1u) + tie) >> kDrop;
  // Compares by value, so that a huge exponent cannot wrap around.
  constexpr uint32_t kTop = static_cast<uint32_t>(128 + (1 << To::exponent) - To::bias) << 23;
  const bool too_large = (magnitude >= kTop) | (normal > To::max_finite);
  constexpr uint32_t kBeyond = kOverflow == Overflow::Saturate ? To::max_finite : To::infinity;
  const uint32_t large = too_large ? kBeyond : normal;
  const uint32_t finite = magnitude < kSmallestNormal ? subnormal : large;
  const uint32_t sign = source >> 31 << (To::bits - 1);
  return magnitude > 0x7f800000u ? To::nan : finite | sign;
}

/// `x` rounded once to `To`'s bits.
template <class To, Round kRound = Round::Nearest, Overflow kOverflow = Overflow::Infinity>
KW_LANE constexpr uint32_t narrow(float x) {
  if constexpr (kRound == Round::Nearest && To::exponent < 8)
    return narrow_nearest<To, kOverflow>(x);
  return round_bits<To, kRound, kOverflow>(std::bit_cast<uint32_t>(x));
}
template <class To, Round kRound = Round::Nearest, Overflow kOverflow = Overflow::Infinity>
KW_LANE constexpr uint32_t narrow(double x) {
  return round_bits<To, kRound, kOverflow>(std::bit_cast<uint64_t>(x));
}

/// The same, with the rounding mode chosen at run time.
template <class To, Overflow kOverflow = Overflow::Infinity>
constexpr uint32_t narrow(double x, Round round) {
  switch (round) {
    case Round::Zero:
      return narrow<To, Round::Zero, kOverflow>(x);
    case Round::Down:
      return narrow<To, Round::Down, kOverflow>(x);
    case Round::Up:
      return narrow<To, Round::Up, kOverflow>(x);
    case Round::NearestAway:
      return narrow<To, Round::NearestAway, kOverflow>(x);
    case Round::Nearest:
      break;
  }
  return narrow<To, Round::Nearest, kOverflow>(x);
}

KW_LANE constexpr float fp16_to_float(uint16_t bits) { return widen<Fp16>(bits); }
KW_LANE constexpr uint16_t float_to_fp16(float x) { return static_cast<uint16_t>(narrow<Fp16>(x)); }
KW_LANE constexpr uint16_t double_to_fp16(double x) {
  return static_cast<uint16_t>(narrow<Fp16>(x));
}

KW_LANE constexpr float bf16_to_float(uint16_t bits) { return widen<Bf16>(bits); }
KW_LANE constexpr uint16_t float_to_bf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? Bf16::nan : rounded);
}
KW_LANE constexpr uint16_t double_to_bf16(double x) {
  return static_cast<uint16_t>(narrow<Bf16>(x));
}

KW_LANE constexpr float e4m3_to_float(uint8_t bits) { return widen<E4m3>(bits); }
KW_LANE constexpr float e5m2_to_float(uint8_t bits) { return widen<E5m2>(bits); }
/// Saturates, as every conversion instruction to fp8 does. A value out of range gives the largest
/// value; NaN gives 0x7f.
KW_LANE constexpr uint8_t double_to_e4m3(double x) {
  return static_cast<uint8_t>(narrow<E4m3, Round::Nearest, Overflow::Saturate>(x));
}
KW_LANE constexpr uint8_t double_to_e5m2(double x) {
  return static_cast<uint8_t>(narrow<E5m2, Round::Nearest, Overflow::Saturate>(x));
}

/// fp4 in the low four bits. Infinities and NaN become the largest value (6), NaN without its sign.
KW_LANE constexpr float e2m1_to_float(uint8_t bits) { return widen<E2m1>(bits & 0xfu); }
KW_LANE constexpr uint8_t double_to_e2m1(double x) {
  return static_cast<uint8_t>(narrow<E2m1, Round::Nearest, Overflow::Saturate>(x));
}

/// e8m0 means 2^(bits - 127); 0xff is NaN.
KW_LANE constexpr float e8m0_to_float(uint8_t bits) {
  const uint32_t normal = static_cast<uint32_t>(bits) << 23;
  const uint32_t finite = bits == 0 ? 0x00400000u : normal;
  return std::bit_cast<float>(bits == 0xff ? 0x7fffffffu : finite);
}
/// The magnitude of `x` as a power of two, rounded up or towards zero. Below 2^-127 it gives
/// 2^-127. Above 2^127 it gives 2^127 when saturating, otherwise NaN. A NaN gives NaN.
template <Round kRound, Overflow kOverflow>
KW_LANE constexpr uint8_t narrow_e8m0(float x) {
  static_assert(kRound == Round::Up || kRound == Round::Zero);
  const uint32_t magnitude = std::bit_cast<uint32_t>(x) & 0x7fffffffu;
  const uint32_t mantissa = magnitude & 0x7fffffu;
  const uint32_t exponent = magnitude >> 23;
  // 2^-127 is the subnormal 0x400000. Smaller values and zero are raised to it.
  const bool inexact = exponent == 0 ? mantissa > 0x400000u : mantissa != 0;
  const uint32_t rounded = exponent + static_cast<uint32_t>(kRound == Round::Up && inexact);
  const uint32_t limited = kOverflow == Overflow::Saturate && rounded > 0xfe ? 0xfe : rounded;
  return static_cast<uint8_t>(magnitude > 0x7f800000u ? 0xff : limited);
}
/// To the nearest power of two, as PyTorch does; 1.5 rounds up. The ISA has no such conversion.
KW_LANE constexpr uint8_t float_to_e8m0(float x) {
  const uint32_t magnitude = std::bit_cast<uint32_t>(x) & 0x7fffffffu;
  const uint32_t exponent = magnitude >> 23, half = exponent == 0 ? 0x400001u : 0x400000u;
  const bool up = (magnitude & 0x7fffffu) >= half;
  return static_cast<uint8_t>(exponent == 0xff ? 0xff : exponent + static_cast<uint32_t>(up));
}

}  // namespace KW_NUMERIC_LEVEL
}  // namespace kw::numeric
