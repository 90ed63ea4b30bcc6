// Compares the approximate functions with long double libm, within the limits of the PTX ISA.
#include "numeric/approx.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace kw::numeric {
namespace {

struct Worst {
  double relative = 0, absolute = 0;
  float at = 0;
};

/// Calls `fn` with dense bit patterns between two magnitudes, and with random ones.
template <class Fn>
void for_floats(float low, float high, bool negative_too, Fn&& fn) {
  const uint32_t from = std::bit_cast<uint32_t>(low), to = std::bit_cast<uint32_t>(high);
  const uint32_t step = (to - from) / 400000 + 1;
  std::mt19937 random(17);
  for (uint64_t u = from; u <= to; u += 1 + random() % step) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(u));
    fn(x);
    if (negative_too) fn(-x);
  }
  fn(high);
}

Worst measure(float low, float high, bool negative_too, const std::function<float(float)>& got,
              const std::function<long double(long double)>& want) {
  Worst worst;
  for_floats(low, high, negative_too, [&](float x) {
    const long double exact = want(x);
    const double absolute =
        static_cast<double>(std::fabs(static_cast<long double>(got(x)) - exact));
    const double relative =
        exact == 0 ? absolute : static_cast<double>(absolute / std::fabs(exact));
    worst.absolute = std::max(worst.absolute, absolute);
    if (relative > worst.relative) worst.relative = relative, worst.at = x;
  });
  return worst;
}

TEST(Approx, Ex2WithinTheIsaLimit) {
  const auto exact = [](long double x) { return std::exp2(x); };
  EXPECT_LT(measure(0x1p-30f, 126.0f, true, ex2, exact).relative, 0x1p-23);  // ISA: 2^-22
  EXPECT_LT(measure(126.0f, 127.99999f, false, ex2, exact).relative, 0x1p-23);
  EXPECT_LT(measure(
                126.0f, 149.0f, true, [](float x) { return ex2(-std::fabs(x)); },
                [](long double x) { return std::exp2(-std::fabs(x)); })
                .absolute,
            0x1p-149);
}
TEST(Approx, Ex2SpecialValues) {
  EXPECT_EQ(ex2(0.0f), 1.0f);
  EXPECT_EQ(ex2(-0.0f), 1.0f);
  EXPECT_EQ(ex2(0x1p-149f), 1.0f);
  EXPECT_EQ(ex2(INFINITY), INFINITY);
  EXPECT_EQ(ex2(-INFINITY), 0.0f);
  EXPECT_EQ(ex2(128.0f), INFINITY);
  EXPECT_EQ(ex2(-149.0f), 0x1p-149f);
  EXPECT_EQ(ex2(-151.0f), 0.0f);
  EXPECT_TRUE(std::isnan(ex2(NAN)));
  for (int n = -149; n < 128; ++n) EXPECT_EQ(ex2(static_cast<float>(n)), std::ldexp(1.0f, n));
}

TEST(Approx, Lg2WithinTheIsaLimit) {
  const auto exact = [](long double x) { return std::log2(x); };
  EXPECT_LT(measure(0.5f, 2.0f, false, lg2, exact).absolute,
            0x1p-23);  // ISA: 2^-22 absolute inside, relative outside
  EXPECT_LT(measure(0x1p-149f, 0.5f, false, lg2, exact).relative, 0x1p-23);
  EXPECT_LT(measure(2.0f, 0x1.fffffep127f, false, lg2, exact).relative, 0x1p-23);
}
TEST(Approx, Lg2SpecialValues) {
  EXPECT_EQ(lg2(1.0f), 0.0f);
  EXPECT_FALSE(std::signbit(lg2(1.0f)));
  EXPECT_EQ(lg2(0.0f), -INFINITY);
  EXPECT_EQ(lg2(-0.0f), -INFINITY);
  EXPECT_EQ(lg2(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(lg2(-1.0f)) && std::isnan(lg2(-INFINITY)) && std::isnan(lg2(NAN)));
  for (int n = -149; n < 128; ++n) EXPECT_EQ(lg2(std::ldexp(1.0f, n)), static_cast<float>(n));
}

TEST(Approx, SineAndCosineWithinTheIsaLimit) {
  const auto exact_sin = [](long double x) { return std::sin(x); };
  const auto exact_cos = [](long double x) { return std::cos(x); };
  // ISA: absolute error 2^-20.5 in [-2 pi, 2 pi], 2^-14.7 in [-100 pi, 100 pi]. Ours is one
  // rounding away from exact.
  EXPECT_LT(measure(0x1p-149f, 7.0f, true, sine, exact_sin).absolute, 0x1p-23);
  EXPECT_LT(measure(0x1p-149f, 7.0f, true, cosine, exact_cos).absolute, 0x1p-23);
  EXPECT_LT(measure(7.0f, kTurnLimit, true, sine, exact_sin).absolute, 0x1p-23);
  EXPECT_LT(measure(7.0f, kTurnLimit, true, cosine, exact_cos).absolute, 0x1p-23);
  const auto large_sin = [](float x) { return turn_sine<0>(reduce_large(x)); };
  const auto large_cos = [](float x) { return turn_sine<1>(reduce_large(x)); };
  EXPECT_LT(measure(kTurnLimit, 0x1.fffffep127f, true, large_sin, exact_sin).absolute, 0x1p-23);
  EXPECT_LT(measure(kTurnLimit, 0x1.fffffep127f, true, large_cos, exact_cos).absolute, 0x1p-23);
  EXPECT_TRUE(std::signbit(sine(-0.0f)));
}

TEST(Approx, TanhWithinTheIsaLimit) {
  const auto exact = [](long double x) { return std::tanh(x); };
  // ISA: 2^-11. An H200 errs by up to 2^-16.5 near 1; ours must not be much better.
  const double error = measure(0x1p-126f, 100.0f, true, tanh_float, exact).relative;
  EXPECT_LT(error, 0x1.1p-15);
  EXPECT_GT(error, 0x1p-17);
  EXPECT_EQ(tanh_float(INFINITY), 1.0f);
  EXPECT_EQ(tanh_float(-INFINITY), -1.0f);
  EXPECT_TRUE(std::signbit(tanh_float(-0.0f)));
  EXPECT_TRUE(std::isnan(tanh_float(NAN)));
  EXPECT_EQ(tanh_float(0x1p-149f), 0x1p-149f);
}

TEST(Approx, RsqrtIsCorrectlyRounded) {
  const auto exact = [](long double x) { return 1 / std::sqrt(x); };
  EXPECT_LT(measure(0x1p-149f, 0x1.fffffep127f, false, rsqrt_float, exact).relative,
            0x1.01p-24);  // ISA: 2^-22.4
  EXPECT_EQ(rsqrt_float(0.0f), INFINITY);
  EXPECT_EQ(rsqrt_float(-0.0f), -INFINITY);
  EXPECT_EQ(rsqrt_float(INFINITY), 0.0f);
  EXPECT_TRUE(std::isnan(rsqrt_float(-1.0f)));
}

TEST(Approx, UpperWordRoundsTo20Bits) {
  EXPECT_EQ(upper_word(1.0 / 3.0), 0x1.55555p-2);
  EXPECT_EQ(upper_word(0x1.fffff80000001p0), 2.0);
  EXPECT_EQ(upper_word(1.0), 1.0);
}

}  // namespace
}  // namespace kw::numeric
