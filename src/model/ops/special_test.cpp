#include "ops/special.h"

#include <gtest/gtest.h>

#include <limits>
#include <numbers>

namespace kw::ops {
namespace {

// With exp and erfc in long double, whose range is large enough.
long double scaled_erfc(double x) {
  const long double wide = x;
  return std::exp(wide * wide) * std::erfc(wide);
}

TEST(Erfcx, IsGoodToFewUlps) {
  constexpr double kUlp = std::numeric_limits<double>::epsilon();
  for (double x = -26.6; x < 60; x += 0.00377) {
    const double miss = static_cast<double>(erfcx(x) / scaled_erfc(x) - 1);
    ASSERT_LE(std::fabs(miss), 4 * kUlp) << x;
  }
}

TEST(Erfcx, HasItsEnds) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(erfcx(-infinity), infinity);
  EXPECT_EQ(erfcx(-26.6875), infinity);  // its square is exact and overflows
  EXPECT_EQ(erfcx(-26.64), infinity);
  EXPECT_TRUE(std::isfinite(erfcx(-26.62)));
  EXPECT_EQ(erfcx(0), 1);
  EXPECT_EQ(erfcx(infinity), 0);
  EXPECT_GT(erfcx(std::numeric_limits<double>::max()), 0);
  EXPECT_NEAR(erfcx(1e200) * 1e200, std::numbers::inv_sqrtpi, 1e-15);
  EXPECT_TRUE(std::isnan(erfcx(std::numeric_limits<double>::quiet_NaN())));
}

// Next to a pole at -n, digamma is about -1 / (x + n) + digamma(n + 1).
TEST(Digamma, KeepsTheFractionBelowItsPoles) {
  for (const double x : {-1e-300, -1e-30, -1e-20, -1e-12, -1e-6})
    EXPECT_NEAR(digamma(x) * -x, 1, 1e-5) << x;
  EXPECT_NEAR(digamma(-1e-12) + 0.57721566490153286, 1e12, 1e-3);
  EXPECT_NEAR(digamma(-3 - 0x1p-20), 0x1p20 + 1.2561176684318, 1e-5);
  EXPECT_NEAR(digamma(-3 + 0x1p-20), -0x1p20 + 1.2561176684318, 1e-5);
  EXPECT_NEAR(digamma(-0.5), 0.03648997397857652, 1e-15);
  EXPECT_NEAR(digamma(-1e5 - 0.25), 14.6545256185, 1e-9);
  EXPECT_TRUE(std::isnan(digamma(-4)));
  EXPECT_EQ(digamma(-0.0), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace kw::ops
