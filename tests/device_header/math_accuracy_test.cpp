// The device headers' own libm, compiled for the host and compared with long double.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace device {
#include <kw/math.h>
}

namespace {

// Errors in units of the last place of the wanted value; a wrong kind of value (NaN, infinity, sign
// of zero) is huge.
template <typename T>
double ulps(T got, long double exact) {
  constexpr double kWrong = 1e9;
  constexpr int kDigits = sizeof(T) == 4 ? 24 : 53, kLowest = sizeof(T) == 4 ? -149 : -1074;
  const T want = static_cast<T>(exact);
  if (std::isnan(want)) return std::isnan(got) ? 0 : kWrong;
  if (std::isinf(want))
    return got == want ||
                   (std::isfinite(exact) && std::fabs(got) > std::numeric_limits<T>::max() / 2)
               ? 0
               : kWrong;
  if (exact == 0) return got == 0 && std::signbit(got) == std::signbit(want) ? 0 : kWrong;
  if (!std::isfinite(got)) return kWrong;
  int exponent = 0;
  std::frexp(exact, &exponent);
  const long double unit = std::ldexp(1.0L, std::max(exponent - kDigits, kLowest));
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) / unit);
}

template <typename T>
class Points {
 public:
  T next() {
    const T kSpecial[] = {T(0),   -T(0),  T(1), T(-1), T(INFINITY), -T(INFINITY),
                          T(NAN), T(0.5), T(2), T(3),  T(-2),       T(1e-40)};
    if (count_ < std::size(kSpecial)) return kSpecial[count_++];
    switch (count_++ % 4) {
      case 0:
        return any_bits();
      case 1:
        return std::uniform_real_distribution<T>(-10, 10)(random_);
      case 2:
        return std::uniform_real_distribution<T>(T(-1.2), T(1.2))(random_);
      default:
        return std::uniform_real_distribution<T>(-120, 120)(random_);
    }
  }

 private:
  T any_bits() {
    const uint64_t bits = random_();
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  std::mt19937_64 random_{7};
  size_t count_ = 0;
};

constexpr int kPoints = 60000;

template <typename T>
struct Unary {
  const char* name;
  T (*function)(T);
  long double (*exact)(long double);
  double limit;  // ulp
  T low = -std::numeric_limits<T>::infinity();
  T high = std::numeric_limits<T>::infinity();
};

template <typename T>
void check(const Unary<T>& row) {
  Points<T> points;
  double worst = 0;
  T at = 0;
  for (int i = 0; i < kPoints; ++i) {
    const T x = points.next();
    if (x < row.low || x > row.high) continue;
    const double error = ulps(row.function(x), row.exact(x));
    if (error > worst) {
      worst = error;
      at = x;
    }
  }
  EXPECT_LE(worst, row.limit) << row.name << " at " << at << ": " << row.function(at)
                              << " instead of " << row.exact(at);
}

#define ROW(NAME, LIMIT, ...)                                                                  \
  {                                                                                            \
#NAME, device::NAME, [](long double x) -> long double { return std::NAME(x); }, LIMIT,     \
                                                                                 ##__VA_ARGS__ \
  }
#define ROWF(NAME, LIMIT, ...)                                                          \
  {                                                                                     \
#NAME "f", device::NAME##f,                                                         \
        [](long double x) -> long double { return std::NAME(x); }, LIMIT, ##__VA_ARGS__ \
  }

const Unary<float> kFloat[] = {
    ROWF(exp, 1.5),
    ROWF(expm1, 2),
    ROWF(log, 1),
    ROWF(log2, 2),
    ROWF(log10, 2),
    ROWF(log1p, 2),
    ROWF(sin, 2),
    ROWF(cos, 2),
    ROWF(tan, 4),
    ROWF(sinh, 3),
    ROWF(cosh, 3),
    ROWF(tanh, 3),
    ROWF(asin, 3),
    ROWF(acos, 2),
    ROWF(atan, 3),
    ROWF(asinh, 3),
    ROWF(acosh, 3),
    ROWF(atanh, 3),
    ROWF(erf, 3),
    ROWF(erfc, 4),
    ROWF(cbrt, 1),
    ROWF(round, 0),
    ROWF(rint, 0),
    ROWF(logb, 0),
    ROWF(floor, 0),
    ROWF(ceil, 0),
    ROWF(trunc, 0),
    ROWF(lgamma, 1),
    ROWF(tgamma, 1, -30.0f, 40.0f),
};
const Unary<double> kDouble[] = {
    ROW(exp, 1.5),
    ROW(exp2, 1.5),
    ROW(expm1, 2.5),
    ROW(log, 1),
    ROW(log2, 2),
    ROW(log10, 2),
    ROW(log1p, 2),
    ROW(sin, 3),
    ROW(cos, 3),
    ROW(tan, 5),
    ROW(sinh, 3),
    ROW(cosh, 3),
    ROW(tanh, 3),
    ROW(asin, 3),
    ROW(acos, 2),
    ROW(atan, 3),
    ROW(asinh, 3),
    ROW(acosh, 3),
    ROW(atanh, 3),
    ROW(erf, 3),
    ROW(erfc, 5),
    ROW(cbrt, 1),
    ROW(round, 0),
    ROW(rint, 0),
    ROW(logb, 0),
    ROW(tgamma, 30, -20.0, 165.0),
    ROW(lgamma, 500, 0.0, 1e300),
};

TEST(DeviceMath, Float) {
  for (const Unary<float>& row : kFloat) check(row);
}
TEST(DeviceMath, Double) {
  for (const Unary<double>& row : kDouble) check(row);
}

// The error of an inverse, from how far its function misses the argument there.
double inverse_ulps(double x, long double missed, long double slope) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return static_cast<double>(std::fabs(missed / slope) / std::ldexp(1.0L, exponent - 53));
}
long double erf_slope(long double x) { return 2 / std::sqrt(std::acos(-1.0L)) * std::exp(-x * x); }

TEST(DeviceMath, InverseErrorFunctions) {
  for (int i = -29999; i < 30000; ++i) {
    const double y = i / 30000.0, x = device::erfinv(y);
    ASSERT_LE(inverse_ulps(x, std::erf(static_cast<long double>(x)) - y, erf_slope(x)), 4) << y;
    EXPECT_EQ(device::erfinvf(static_cast<float>(y)),
              static_cast<float>(device::erfinv(static_cast<float>(y))));
  }
  for (double y = 1.99; y > 1e-300; y *= 0.99) {
    const double x = device::erfcinv(y);
    ASSERT_LE(inverse_ulps(x, std::erfc(static_cast<long double>(x)) - y, erf_slope(x)), 4) << y;
    const double p = device::normcdfinv(y / 2);
    EXPECT_NEAR(p, -x * std::sqrt(2.0), 1e-15 * std::max(1.0, std::fabs(p))) << y;
  }
  EXPECT_EQ(device::erfinv(1.0), INFINITY);
  EXPECT_EQ(device::erfinv(-1.0), -INFINITY);
  EXPECT_EQ(device::erfcinv(0.0), INFINITY);
  EXPECT_TRUE(std::isnan(device::erfinv(1.5)) && std::isnan(device::erfcinv(-0.1)));
  EXPECT_EQ(device::erfinv(0.0), 0.0);
}

TEST(DeviceMath, ScaledErrorFunction) {
  for (double x = -26; x < 100; x += 0.013) {
    const long double wide = x;
    const long double exact = std::exp(wide * wide) * std::erfc(wide);
    ASSERT_NEAR(device::erfcx(x) / static_cast<double>(exact), 1.0, 3e-15) << x;
  }
  EXPECT_NEAR(device::erfcx(1e8) * 1e8, 0.56418958354775628, 1e-15);
  EXPECT_EQ(device::erfcx(-30.0), INFINITY);
  EXPECT_EQ(device::erfcx(-26.6875), INFINITY);  // whose square is exact and overflows
  const double sides[] = {3, 4, 12};
  EXPECT_EQ(device::norm(3, sides), 13);
  EXPECT_EQ(device::rnorm(3, sides), 1.0 / 13);
}

// Absolute, since they oscillate around zero.
TEST(DeviceMath, Bessel) {
  for (int i = 1; i < kPoints; ++i) {
    const double x = i * 0.001;
    EXPECT_NEAR(device::j0(x), ::j0(x), 4e-15) << x;
    EXPECT_NEAR(device::j1(x), ::j1(x), 4e-15) << x;
    EXPECT_NEAR(device::y0(x), ::y0(x), 4e-15) << x;
    EXPECT_NEAR(device::y1(x), ::y1(x), 4e-15 * std::max(1.0, std::fabs(::y1(x)))) << x;
  }
  EXPECT_EQ(device::j1f(-2.0f), -device::j1f(2.0f));
}

template <typename T>
void check_binary(const char* name, T (*function)(T, T),
                  long double (*exact)(long double, long double), double limit) {
  Points<T> points;
  std::mt19937_64 random(3);
  double worst = 0;
  T at_x = 0, at_y = 0;
  T previous = 1;
  for (int i = 0; i < kPoints; ++i) {
    T x = points.next();
    const T y = i % 3 == 0 ? std::rint(previous) : previous;
    if (i % 2 == 0) x = std::fabs(x);
    const double error = ulps(function(x, y), exact(x, y));
    if (error > worst) {
      worst = error;
      at_x = x;
      at_y = y;
    }
    previous = x;
  }
  EXPECT_LE(worst, limit) << name << " at " << at_x << ", " << at_y << ": " << function(at_x, at_y)
                          << " instead of " << exact(at_x, at_y);
}
#define BINARY(NAME, LIMIT)                                                                \
  check_binary<double>(                                                                    \
      #NAME, device::NAME,                                                                 \
      [](long double x, long double y) -> long double { return std::NAME(x, y); }, LIMIT); \
  check_binary<float>(                                                                     \
      #NAME "f", device::NAME##f,                                                          \
      [](long double x, long double y) -> long double { return std::NAME(x, y); }, LIMIT)

TEST(DeviceMath, TwoArguments) {
  BINARY(pow, 3);
  BINARY(atan2, 3);
  BINARY(hypot, 1.5);
  BINARY(fmod, 0);
  BINARY(remainder, 0);
}

TEST(DeviceMath, ScaleAndSplit) {
  Points<float> floats;
  Points<double> doubles;
  for (int i = 0; i < kPoints; ++i) {
    const float f = floats.next();
    const double d = doubles.next();
    int got = 0, want = 0;
    if (std::isfinite(f) && f != 0) {
      EXPECT_EQ(device::frexpf(f, &got), std::frexp(f, &want));
      EXPECT_EQ(got, want);
      EXPECT_EQ(device::ldexpf(f, 5), std::ldexp(f, 5));
      EXPECT_EQ(device::nextafterf(f, 1.0f), std::nextafter(f, 1.0f));
    }
    if (std::isfinite(d) && d != 0) {
      EXPECT_EQ(device::frexp(d, &got), std::frexp(d, &want));
      EXPECT_EQ(got, want);
      EXPECT_EQ(device::ldexp(d, 5), std::ldexp(d, 5));
    }
  }
}

}  // namespace
