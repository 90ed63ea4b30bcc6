#include "ops/special.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace kw::ops {

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

}  // namespace kw::ops
