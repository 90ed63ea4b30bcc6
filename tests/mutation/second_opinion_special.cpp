// Functions that the C library does not have, from textbooks, in long double.
#include <cmath>

#include "second_opinion_steps.h"

namespace kw::mutation {

namespace {

constexpr Real kPi = 3.14159265358979323846264338327950288L;
constexpr Real kSqrtPi = 1.77245385090551602729816748334114518L;

/// exp(x²), with the part of the square that long double loses.
Real exp_of_square(Real x) {
  const Real square = x * x;
  if (std::isinf(square)) return square;
  const Real lost = std::fma(x, x, -square);
  return std::exp(square) * (1 + lost);
}

}  // namespace

// Halley's method from Winitzki's approximation. Close to 1, erf is flat and 1 - x is exact, so the
// equation is that of erfc.
Real inverse_erf(Real x) {
  const Real size = std::fabs(x);
  if (!(size < 1))
    return size == 1 ? std::copysign(std::numeric_limits<Real>::infinity(), x)
                     : std::numeric_limits<Real>::quiet_NaN();
  const Real log_part = std::log1p(-size * size), a = 0.147L;
  const Real half = 2 / (kPi * a) + log_part / 2;
  Real y = size < 0.1L ? size : std::sqrt(std::sqrt(half * half - log_part / a) - half);
  for (int round = 0; round < 8; ++round) {
    const Real miss = size < 0.5L ? std::erf(y) - size : (1 - size) - std::erfc(y);
    const Real newton = miss * (kSqrtPi / 2) * std::exp(y * y);
    y -= newton / (1 + y * newton);
  }
  return std::copysign(y, x);
}

// From 2 on by the continued fraction 1 / (x + (1/2) / (x + (2/2) / (x + (3/2) / …))) / sqrt(pi),
// from its far end.
Real scaled_erfc(Real x) {
  if (!(x >= 2)) return exp_of_square(x) * std::erfc(x);
  Real tail = x;
  for (int k = 600; k > 0; --k) tail = x + Real(k) / 2 / tail;
  return 1 / (tail * kSqrtPi);
}

// Reflected to positive arguments, raised above 30 by psi(x) = psi(x + 1) - 1 / x, then the
// asymptotic series with the Bernoulli numbers B2 … B20.
Real psi(Real x) {
  constexpr Real kBernoulli[] = {
      1.0L / 6,       -1.0L / 30, 1.0L / 42,      -1.0L / 30,     5.0L / 66,
      -691.0L / 2730, 7.0L / 6,   -3617.0L / 510, 43867.0L / 798, -174611.0L / 330,
  };
  if (x == 0) return std::copysign(std::numeric_limits<Real>::infinity(), -x);
  if (x < 0) {
    if (x == std::trunc(x)) return std::numeric_limits<Real>::quiet_NaN();
    // The distance to the nearest integer is exact, also next to 0 and to integers.
    return psi(1 - x) - kPi / std::tan(kPi * (x - std::nearbyint(x)));
  }
  if (std::isinf(x)) return x;
  Real below = 0;
  for (; x < 30; x += 1) below += 1 / x;
  Real series = 0, power = 1;
  int twice = 2;
  for (const Real bernoulli : kBernoulli) {
    power /= x * x;
    series += bernoulli / Real(twice) * power;
    twice += 2;
  }
  return std::log(x) - 1 / (2 * x) - series - below;
}

}  // namespace kw::mutation
