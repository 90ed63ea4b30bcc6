// Compares the conversions with an independent reference: a search for the neighbours in the sorted
// list of a format's values.
#include "numeric/formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "numeric/small_float.h"

namespace kw::numeric {
namespace {

/// Every non-negative finite value of a format, ordered by its bits. Decoded in double from the
/// definition.
template <class F>
std::vector<double> values() {
  std::vector<double> out;
  for (uint32_t bits = 0; bits <= F::max_finite; ++bits) {
    const int exponent = static_cast<int>(bits >> F::mantissa);
    const double fraction = static_cast<double>(bits & ((1u << F::mantissa) - 1));
    const double significand = fraction + (exponent == 0 ? 0.0 : std::ldexp(1.0, F::mantissa));
    out.push_back(std::ldexp(significand, std::max(exponent, 1) - F::bias - F::mantissa));
  }
  return out;
}

template <class F>
uint32_t reference(const std::vector<double>& table, double x, Round round, bool saturate) {
  if (std::isnan(x)) return F::nan;
  const bool negative = std::signbit(x);
  const uint32_t sign = negative ? 1u << (F::bits - 1) : 0;
  const double magnitude = std::fabs(x);
  const uint32_t overflow = saturate ? F::max_finite : F::infinity;
  if (std::isinf(x)) return sign | overflow;
  const bool away = (round == Round::Up && !negative) || (round == Round::Down && negative);
  const bool nearest = round == Round::Nearest || round == Round::NearestAway;
  const auto above = std::upper_bound(table.begin(), table.end(), magnitude);
  const uint32_t low = static_cast<uint32_t>(above - table.begin()) - 1;
  if (table[low] == magnitude) return sign | low;
  // Above the largest value we take one more step of the last exponent as the neighbour.
  const double next = above != table.end() ? *above : 2 * table[low] - table[low - 1];
  const double middle = (table[low] + next) / 2;
  bool up = away;
  if (nearest) {
    up = magnitude > middle ||
         (magnitude == middle && (round == Round::NearestAway || (low & 1) != 0));
  }
  const uint32_t result = low + static_cast<uint32_t>(up);
  return sign | (result > F::max_finite ? overflow : result);
}

std::vector<double> samples(const std::vector<double>& table) {
  std::vector<double> out = {0.0,      INFINITY,       NAN,   0x1p-1074, 0x1p-149,
                             0x1p1000, 0x1.fffffep127, 5e-324};
  std::mt19937_64 random(7);
  for (size_t i = 0; i + 1 < table.size(); ++i) {
    const double middle = (table[i] + table[i + 1]) / 2;
    for (double x : {table[i], middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e300)})
      out.push_back(x);
  }
  const double top = 2 * table.back() - table[table.size() - 2];
  for (double x :
       {table.back(), top, (top + table.back()) / 2, std::nextafter((top + table.back()) / 2, 0.0),
        std::nextafter(table.back(), 1e300), 10 * top})
    out.push_back(x);
  for (int i = 0; i < 20000; ++i) out.push_back(std::bit_cast<double>(random()));
  for (int i = 0; i < 20000; ++i)
    out.push_back(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(random()))));
  const size_t count = out.size();
  for (size_t i = 0; i < count; ++i) out.push_back(-out[i]);
  return out;
}

template <class F, Round kRound, Overflow kOverflow>
void check_mode(const std::vector<double>& table, const std::vector<double>& xs) {
  for (double x : xs) {
    const uint32_t want = reference<F>(table, x, kRound, kOverflow == Overflow::Saturate);
    ASSERT_EQ((narrow<F, kRound, kOverflow>(x)), want)
        << std::hexfloat << x << " mode " << int(kRound);
    const float narrowed = static_cast<float>(x);
    if (static_cast<double>(narrowed) == x || std::isnan(x)) {
      ASSERT_EQ((narrow<F, kRound, kOverflow>(narrowed)), want)
          << std::hexfloat << x << " from float";
    }
  }
}

template <class F>
class Conversion : public testing::Test {};
using Small = testing::Types<Fp16, Bf16, Tf32, E4m3, E5m2, E2m1>;
TYPED_TEST_SUITE(Conversion, Small);

TYPED_TEST(Conversion, RoundsOnceInEveryMode) {
  const auto table = values<TypeParam>();
  const auto xs = samples(table);
  check_mode<TypeParam, Round::Nearest, Overflow::Infinity>(table, xs);
  check_mode<TypeParam, Round::Nearest, Overflow::Saturate>(table, xs);
  check_mode<TypeParam, Round::NearestAway, Overflow::Infinity>(table, xs);
  check_mode<TypeParam, Round::Zero, Overflow::Saturate>(table, xs);
  check_mode<TypeParam, Round::Up, Overflow::Saturate>(table, xs);
  check_mode<TypeParam, Round::Down, Overflow::Saturate>(table, xs);
}

TYPED_TEST(Conversion, WidensExactlyAndBack) {
  const auto table = values<TypeParam>();
  for (uint32_t bits = 0; bits <= TypeParam::max_finite; ++bits) {
    const uint32_t sign = 1u << (TypeParam::bits - 1);
    ASSERT_EQ(static_cast<double>(widen<TypeParam>(bits)), table[bits]);
    ASSERT_EQ(static_cast<double>(widen<TypeParam>(bits | sign)), -table[bits]);
    ASSERT_EQ(narrow<TypeParam>(widen<TypeParam>(bits | sign)), bits | sign);
  }
}

TEST(Formats, Bf16FastPathEqualsGeneral) {
  std::mt19937 random(3);
  for (int i = 0; i < 200000; ++i) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(random()));
    ASSERT_EQ(float_to_bf16(x), narrow<Bf16>(x)) << std::hexfloat << x;
  }
  for (uint32_t high = 0; high < 0x10000; ++high)
    for (uint32_t low : {0u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      const float x = std::bit_cast<float>(high << 16 | low);
      ASSERT_EQ(float_to_bf16(x), narrow<Bf16>(x)) << std::hexfloat << x;
    }
}

TEST(Formats, NearestFastPathEqualsGeneral) {
  std::mt19937 random(13);
  for (int i = 0; i < 2000000; ++i) {
    const uint32_t u = static_cast<uint32_t>(random());
    const uint32_t spread =
        i % 2 == 0 ? u : (u & 0x8fffffffu) + 0x30000000u;  // more of them near the formats' ranges
    const float x = std::bit_cast<float>(spread);
    ASSERT_EQ((narrow_nearest<Fp16, Overflow::Infinity>(x)),
              (round_bits<Fp16, Round::Nearest, Overflow::Infinity>(spread)))
        << std::hexfloat << x;
    ASSERT_EQ((narrow_nearest<E4m3, Overflow::Saturate>(x)),
              (round_bits<E4m3, Round::Nearest, Overflow::Saturate>(spread)))
        << std::hexfloat << x;
    ASSERT_EQ((narrow_nearest<E2m1, Overflow::Saturate>(x)),
              (round_bits<E2m1, Round::Nearest, Overflow::Saturate>(spread)))
        << std::hexfloat << x;
  }
}

TEST(Formats, DoubleToFloatMatchesHardware) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200000; ++i) {
    uint64_t bits = random();
    if (i % 2 == 0) bits = (bits & 0x800fffffffffffffull) | ((850 + (bits >> 52) % 320) << 52);
    const double x = std::bit_cast<double>(bits);
    if (std::isnan(x)) continue;
    ASSERT_EQ(narrow<Fp32>(x), std::bit_cast<uint32_t>(static_cast<float>(x)))
        << std::hexfloat << x;
  }
}

TEST(Formats, OverflowFollowsTheDirection) {
  EXPECT_EQ((narrow<Fp16, Round::Zero>(1e6)), 0x7bffu);
  EXPECT_EQ((narrow<Fp16, Round::Up>(1e6)), 0x7c00u);
  EXPECT_EQ((narrow<Fp16, Round::Up>(-1e6)), 0xfbffu);
  EXPECT_EQ((narrow<Fp16, Round::Down>(1e6)), 0x7bffu);
  EXPECT_EQ((narrow<Fp16, Round::Down>(-1e6)), 0xfc00u);
  EXPECT_EQ((narrow<Fp32, Round::Up>(1e300)), 0x7f800000u);
  EXPECT_EQ((narrow<Fp32, Round::Up>(-1e300)), 0xff7fffffu);
  EXPECT_EQ((narrow<Fp32, Round::Up>(1e-300)), 1u);
  EXPECT_EQ((narrow<Fp32, Round::Down>(-1e-300)), 0x80000001u);
}

TEST(Formats, InfinityAndNanWiden) {
  EXPECT_EQ(widen<Fp16>(0x7c00), INFINITY);
  EXPECT_EQ(widen<Fp16>(0xfc00), -INFINITY);
  EXPECT_EQ(widen<E5m2>(0xfc), -INFINITY);
  EXPECT_TRUE(std::isnan(widen<Fp16>(0x7e01)));
  EXPECT_TRUE(std::isnan(widen<E4m3>(0x7f)) && std::isnan(widen<E4m3>(0xff)));
  EXPECT_TRUE(std::isnan(widen<E5m2>(0x7d)));
}

TEST(Formats, IntegersRoundOnce) {
  std::mt19937_64 random(9);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t x = random() >> (random() % 64);
    ASSERT_EQ((round_integer<Fp32, Round::Nearest>(x, false)),
              std::bit_cast<uint32_t>(static_cast<float>(x)));
    const uint32_t down = round_integer<Fp32, Round::Zero>(x, true);
    const uint32_t up = round_integer<Fp32, Round::Down>(x, true);
    const long double low = -std::bit_cast<float>(down), high = -std::bit_cast<float>(up);
    ASSERT_LE(low, static_cast<long double>(x));
    ASSERT_GE(high, static_cast<long double>(x));
    ASSERT_EQ(up - down, low == static_cast<long double>(x) ? 0u : 1u) << x;
  }
  EXPECT_EQ((round_integer<Fp16, Round::Nearest>(65520, false)), 0x7c00u);
  EXPECT_EQ((round_integer<Fp16, Round::Zero>(1ull << 40, false)), 0x7bffu);
  EXPECT_EQ((round_integer<Fp16, Round::Nearest>(0, true)), 0u);
}

struct E8m0Case {
  float x;
  uint32_t up, zero;
};
TEST(Formats, E8m0KeepsTheExponent) {
  const E8m0Case cases[] = {{1.0f, 127, 127},      {1.5f, 128, 127},  {-3.0f, 129, 128},
                            {0.0f, 0, 0},          {0x1p-127f, 0, 0}, {0x1p-149f, 0, 0},
                            {0x1.8p-127f, 1, 0},   {0x1p-126f, 1, 1}, {0x1p127f, 254, 254},
                            {0x1.8p127f, 254, 254}};
  for (const auto& c : cases) {
    EXPECT_EQ((narrow_e8m0<Round::Up, Overflow::Saturate>(c.x)), c.up) << c.x;
    EXPECT_EQ((narrow_e8m0<Round::Zero, Overflow::Saturate>(c.x)), c.zero) << c.x;
  }
  EXPECT_EQ((narrow_e8m0<Round::Up, Overflow::Infinity>(0x1.8p127f)), 255u);
  EXPECT_EQ((narrow_e8m0<Round::Up, Overflow::Saturate>(INFINITY)), 254u);
  EXPECT_EQ((narrow_e8m0<Round::Zero, Overflow::Saturate>(NAN)), 255u);
  for (uint32_t bits = 0; bits < 255; ++bits)
    EXPECT_EQ(e8m0_to_float(static_cast<uint8_t>(bits)),
              std::ldexp(1.0f, static_cast<int>(bits) - 127));
  EXPECT_TRUE(std::isnan(e8m0_to_float(255)));
}

}  // namespace
}  // namespace kw::numeric
