#include "ops/special.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace kw::ops {

double sigmoid(double x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1 + e);
}

// Starts with an approximation, then uses Halley's method on erf(y) - x. In the tails erf is flat,
// so erfc is used there.
double erfinv(double x) {
  const double magnitude = std::fabs(x);
  if (!(magnitude < 1)) {
    return magnitude == 1 ? std::copysign(std::numeric_limits<double>::infinity(), x)
                          : std::numeric_limits<double>::quiet_NaN();
  }
  if (magnitude < 1e-160) return x * 0.886226925452758;
  const double w = std::log1p(-magnitude * magnitude);
  const double u = 2 / (3.14159265358979324 * 0.147) + w / 2;
  double y = std::sqrt(std::sqrt(u * u - w / 0.147) - u);
  for (int step = 0; step < 4; ++step) {
    const double miss = magnitude < 0.5 ? std::erf(y) - magnitude : (1 - magnitude) - std::erfc(y);
    const double slope = 1.12837916709551257 * std::exp(-y * y);
    const double newton = miss / slope;
    y -= newton / (1 + y * newton);
  }
  return std::copysign(y, x);
}

double erfcx(double x) {
  if (x < 10) {
    if (x < -26.64) return std::numeric_limits<double>::infinity();
    // The rounding error of x² would become a relative error of x² units in the result.
    const double square = x * x, lost = std::fma(x, x, -square), e = std::exp(square);
    return (e + e * lost) * std::erfc(x);
  }
  // The asymptotic series 1 - 1/(2x²) + 3/(2x²)² - …. From here on its terms decrease fast enough.
  const double z = 1 / (2 * x * x);
  double sum = 1;
  for (int k = 13; k > 0; --k) sum = 1 - (2 * k - 1) * z * sum;
  return std::numbers::inv_sqrtpi / x * sum;
}

double lgamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double digamma(double x) {
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  constexpr double kPi = 3.14159265358979323846;
  if (x < 0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
    // Takes the fraction first, because tan(pi x) of a large x would lose it.
    const double fraction = x - std::floor(x);
    return digamma(1 - x) - kPi / std::tan(kPi * fraction);
  }
  double sum = 0;
  for (; x < 10; x += 1) sum -= 1 / x;
  const double z = 1 / (x * x);
  const double series =
      z * (1.0 / 12 -
           z * (1.0 / 120 -
                z * (1.0 / 252 -
                     z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z * (1.0 / 12)))))));
  return sum + std::log(x) - 0.5 / x - series;
}

}  // namespace kw::ops
