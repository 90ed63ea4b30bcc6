// Measures how much a function changes with its argument by evaluating it. Used when a derivative
// is not enough: at a pole, at the edge of the domain, or for large errors.
#pragma once

#include <cmath>
#include <limits>

#include "ports/bound.h"

namespace kw::truth {

/// |moved - y|; infinite when the moved argument leaves the domain.
inline double distance(double moved, double y) {
  if (moved == y || (y != y && moved != moved)) return 0;
  const double d = std::fabs(moved - y);
  return d == d ? d : std::numeric_limits<double>::infinity();
}

/// An infinite error of a value above these limits means overflow: the value is large or infinite,
/// not unknown.
inline constexpr double kPathOverflow = 0x1.fffffep127, kHalfOverflow = 65504;

/// Returns max |f(x ± e) - y| with y = f(x). `overflow` is one of the constants above. An error too
/// small for a difference in fp64 is scaled up first, and the result is scaled down.
template <class F>
double swing(F f, double x, double y, double e, double overflow) {
  if (e == 0) return 0;
  const double infinity = std::numeric_limits<double>::infinity();
  if (e == infinity && !(std::fabs(x) > overflow)) return infinity;
  if (!(std::fabs(x) < infinity)) return e < infinity ? 0 : infinity;
  const double visible = 0x1p-26 * std::fabs(x);
  const double step = e > visible ? e : visible;
  const double up = distance(f(x + step), y), down = distance(f(x - step), y);
  const double most = up > down ? up : down;
  return e < step ? most * (e / step) : most;
}

/// On the fp32 path functions are evaluated at the full bound, so that a pole within the bound is
/// found.
inline constexpr double kPathFactor = ports::BoundConstants{}.path_factor;

/// Returns the magnitude, or 0 for infinities and NaN: roundings are relative to it.
inline double finite_magnitude(double x) {
  const double m = std::fabs(x);
  return m <= std::numeric_limits<double>::max() ? m : 0;
}

}  // namespace kw::truth
