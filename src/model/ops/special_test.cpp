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

}  // namespace
}  // namespace kw::ops
