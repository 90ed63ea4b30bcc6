// Our own versions of the functions that PTX leaves approximate: ex2, lg2, sin, cos, tanh, rsqrt
// and the f64 seeds. Each stays within the error the ISA states and gives the same bits on every
// host. They use only IEEE + - * / sqrt in binary64, never fused, and no libm. They take and return
// plain values: flushing, NaN patterns and narrowing are left to the callers. They have no branches
// unless a comment says so, so lane loops vectorise.
#pragma once

#include <bit>
#include <cstdint>

#include "numeric/level.h"

namespace kw::numeric {
inline namespace KW_NUMERIC_LEVEL {

/// Adding and then subtracting this rounds a small double to the nearest integer. The low bits of
/// the sum are that integer.
inline constexpr double kRoundingShift = 0x1.8p52;

/// 2^x for |x| <= 1000, relative error below 2^-35.
KW_LANE double exp2_double(double x) {
  const double shifted = x + kRoundingShift;
  const double f = x - (shifted - kRoundingShift);
  double p = 0x1.b5253d395e7c4p-24;
  p = p * f + 0x1.62c0223a5c824p-20;
  p = p * f + 0x1.ffcbfc588b0c7p-17;
  p = p * f + 0x1.430912f86c787p-13;
  p = p * f + 0x1.5d87fe78a6731p-10;
  p = p * f + 0x1.3b2ab6fba4e77p-7;
  p = p * f + 0x1.c6b08d704a0c0p-5;
  p = p * f + 0x1.ebfbdff82c58fp-3;
  p = p * f + 0x1.62e42fefa39efp-1;
  p = p * f + 1.0;
  const uint64_t n = std::bit_cast<uint64_t>(shifted)
                     << 52;  // the integer, moved into the exponent field
  return std::bit_cast<double>(std::bit_cast<uint64_t>(p) + n);
}

/// 2^x in binary32. Overflow gives infinity, underflow is gradual, NaN stays NaN.
KW_LANE float ex2(float x) {
  const float low = x < -200.0f ? -200.0f : x;
  const float limited = low > 200.0f ? 200.0f : low;
  return static_cast<float>(exp2_double(limited));
}

/// log2 of a finite positive normal double.
KW_LANE double log2_double(double x) {
  constexpr uint64_t kHalfRoot =
      0x3fe6a09e667f3bcdu;  // sqrt(1/2): the mantissa is scaled into [it, 2 * it)
  const uint64_t raw = std::bit_cast<uint64_t>(x);
  const uint64_t steps = (raw - kHalfRoot) & 0xfff0000000000000u;
  const double m = std::bit_cast<double>(raw - steps);
  // Turns the exponent into a double without a conversion. Its bits become the low mantissa bits
  // of 2^52, which is then subtracted.
  const uint64_t biased = (steps >> 52 ^ 0x800u) & 0xfffu;
  const double e = std::bit_cast<double>(biased | 0x4330000000000000u) - (0x1p52 + 2048.0);
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double p = 0x1.89f3b1694cffep-3;
  p = p * z + 0x1.c68f568d31760p-3;
  p = p * z + 0x1.0c9a84994022dp-2;
  p = p * z + 0x1.484b13d7c02a9p-2;
  p = p * z + 0x1.a61762a7aded9p-2;
  p = p * z + 0x1.2776c50ef9bfep-1;
  p = p * z + 0x1.ec709dc3a03fdp-1;
  p = p * z + 0x1.71547652b82fep+1;
  return e + s * p;
}

/// log2(x): -infinity at zero, NaN for negative x.
KW_LANE float lg2(float x) {
  const bool positive = x > 0.0f, infinite = x > 0x1.fffffep127f;
  const float finite =
      static_cast<float>(log2_double(positive && !infinite ? static_cast<double>(x) : 1.0));
  const float limited = infinite ? x : finite;
  const float zero_or_nan =
      x == 0.0f ? -std::bit_cast<float>(0x7f800000u) : std::bit_cast<float>(0x7fffffffu);
  return positive ? limited : zero_or_nan;
}

/// The quarter turn nearest to x, and the remainder of x.
struct Turn {
  double rest;
  uint64_t quarter;  // only the low two bits matter
};

/// For |x| <= kTurnLimit; for larger x use reduce_large.
inline constexpr float kTurnLimit = 0x1p26f;
KW_LANE Turn reduce(double x) {
  const double shifted = x * 0x1.45f306dc9c883p-1 + kRoundingShift;
  const double n = shifted - kRoundingShift;
  const double rest = ((x - n * 0x1.921fb5p+0) - n * 0x1.110b46p-26) - n * 0x1.1a62633145c07p-54;
  return {rest, std::bit_cast<uint64_t>(shifted)};
}

/// sin(rest) for kShift 0, cos(rest) for kShift 1, then rotated by the quarter turns.
template <int kShift>
KW_LANE float turn_sine(Turn turn) {
  const double r = turn.rest, z = r * r;
  double s = 1.0 / 6227020800.0;
  s = s * z - 1.0 / 39916800.0;
  s = s * z + 1.0 / 362880.0;
  s = s * z - 1.0 / 5040.0;
  s = s * z + 1.0 / 120.0;
  s = s * z - 1.0 / 6.0;
  const double sine = r + r * z * s;
  double c = -1.0 / 87178291200.0;
  c = c * z + 1.0 / 479001600.0;
  c = c * z - 1.0 / 3628800.0;
  c = c * z + 1.0 / 40320.0;
  c = c * z - 1.0 / 720.0;
  c = c * z + 1.0 / 24.0;
  c = c * z - 0.5;
  const double cosine = 1.0 + z * c;
  const uint64_t quarter = turn.quarter + kShift;
  const double value = (quarter & 1) != 0 ? cosine : sine;
  return static_cast<float>((quarter & 2) != 0 ? -value : value);
}

/// sin and cos for |x| <= kTurnLimit.
KW_LANE float sine(float x) { return x == 0.0f ? x : turn_sine<0>(reduce(x)); }
KW_LANE float cosine(float x) { return turn_sine<1>(reduce(x)); }

/// A normal number with 15 significant bits, rounded; others as they are.
KW_LANE float fifteen_bits(float x) {
  const uint32_t raw = std::bit_cast<uint32_t>(x), magnitude = raw & 0x7fffffffu;
  const bool normal = magnitude >= 0x00800000u && magnitude < 0x7f000000u;
  const uint32_t rounded = (raw + 0x100u) & ~0x1ffu;
  return std::bit_cast<float>(normal ? rounded : raw);
}

/// The ISA promises an error below 2^-11. An H200 errs like a tanh of 15 bits of its argument: by up
/// to 2^-16.5 at 1, and by less where tanh is flat. A kernel that needs more must not look right
/// here.
KW_LANE float tanh_float(float x) {
  const double v = fifteen_bits(x);
  const double magnitude = v < 0 ? -v : v;
  const double limited = magnitude < 20.0 ? magnitude : 20.0;
  const double e = exp2_double(limited * 0x1.71547652b82fep+1);
  const double large = 1.0 - 2.0 / (e + 1.0);
  const double z = v * v;
  const double small = magnitude * (1.0 - z * (1.0 / 3.0 - z * (2.0 / 15.0)));
  const double result = magnitude < 0x1p-5 ? small : large;
  const float rounded = static_cast<float>(x < 0.0f ? -result : result);
  return x == 0.0f || x != x ? x : rounded;
}

KW_LANE float rsqrt_float(float x) {
  return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x)));
}

/// The upper 32 bits of a double, with the mantissa rounded to 20 bits. The f64 seed instructions
/// return this form.
KW_LANE double upper_word(double x) {
  const uint64_t raw = std::bit_cast<uint64_t>(x);
  return std::bit_cast<double>((raw + 0x7fffffffu + ((raw >> 32) & 1)) & 0xffffffff00000000u);
}

/// The quarter turns of any finite float, with 2/pi to 256 bits. Not for lane loops.
inline Turn reduce_large(float x) {
  constexpr uint32_t kTwoOverPi[8] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                      0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};
  __extension__ typedef unsigned __int128 Wide;
  const uint32_t raw = std::bit_cast<uint32_t>(x);
  const int exponent =
      static_cast<int>(raw >> 23 & 0xff) - 127 - 23;  // x = mantissa * 2^exponent, exponent >= 3
  const uint32_t mantissa = (raw & 0x7fffffu) | 0x800000u;
  // Skips the bits of 2/pi that give whole turns; the next 128 bits decide the result.
  const int skip = exponent - 2, word = skip / 32, bit = skip % 32;
  Wide window = 0;
  for (int i = 0; i < 4; ++i) window = window << 32 | kTwoOverPi[word + i];
  if (bit != 0) window = window << bit | kTwoOverPi[word + 4] >> (32 - bit);
  const Wide product = window * mantissa;  // quarter turns * 2^126, modulo 4
  uint64_t quarter = static_cast<uint64_t>(product >> 126);
  const int64_t fraction =
      static_cast<int64_t>(static_cast<uint64_t>(product >> 62));  // signed: in [-1/2, 1/2)
  quarter += static_cast<uint64_t>(fraction < 0);
  const double rest = static_cast<double>(fraction) * 0x1p-64 * 0x1.921fb54442d18p+0;
  const bool negative = (raw >> 31) != 0;
  return {negative ? -rest : rest, negative ? 0 - quarter : quarter};
}

}  // namespace KW_NUMERIC_LEVEL
}  // namespace kw::numeric
