#include "truth/range.h"

#include <algorithm>
#include <cmath>

#include "ports/bound.h"
#include "truth/errors.h"

namespace kw::truth {

using tensor::DType;

namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

bool clips(DType type) {
  return type == DType::Fp8e4m3 || type == DType::Fp8e5m2 || type == DType::Fp4e2m1x2;
}

double largest_value(DType type) {
  if (type == DType::Fp8e4m3) return 448;
  if (type == DType::Fp8e5m2) return 57344;
  return type == DType::Fp4e2m1x2 ? 6 : kNoLimit;
}

TrackedValue exactly(double t) { return {t, 0, 0}; }

double infinite(double sign) { return std::copysign(kNoLimit, sign); }

/// What a half type makes of a value that it cannot hold.
double overflowed_half(const NodeRange& range, double t) {
  if (range.saturates && range.largest < kNoLimit) return std::copysign(range.largest, t);
  return range.has_infinity ? infinite(t) : not_a_number();
}

uint8_t limit_half(const NodeRange& range, TrackedValue& y) {
  const double m = std::fabs(y.t);
  if (!(m <= kLargest) && (range.has_infinity || y.t != y.t)) return 0;
  const bool far = m > range.half, may = m + (y.h < kNoLimit ? y.h : 0) > range.half;
  if (!may) return 0;
  const bool applies = (range.clamp & kBeyondHalf) != 0 && (far || range.eager);
  if (applies) y = exactly(overflowed_half(range, y.t));
  return far ? kBeyondHalf : kBeyondHalf | kBeyondNear;
}

/// The infinity, NaN or number that a sum gives whose ends leave the range.
double overflowed_sum(const NodeRange& range, const TrackedValue& y, bool up, bool down) {
  if (std::isinf(y.t)) {
    // The terms hold an infinity. Finite terms may overflow to the other one first.
    const bool other = y.t > 0 ? down : up;
    return other && range.order != (y.t > 0 ? SumOrder::Up : SumOrder::Down) ? not_a_number() : y.t;
  }
  switch (range.order) {
    case SumOrder::Up:
      return up ? kNoLimit : -kNoLimit;
    case SumOrder::Down:
      return down ? -kNoLimit : kNoLimit;
    case SumOrder::Both:
      // Merging moments multiplies an infinity by a weight that may be zero.
      return (up && down) || range.mean ? not_a_number() : (up ? kNoLimit : -kNoLimit);
    case SumOrder::OnlyUp:
      return up ? kNoLimit : y.t;
    case SumOrder::OnlyDown:
      return down ? -kNoLimit : y.t;
  }
  return y.t;
}

}  // namespace

NodeRange range_of(DType type, bool rounds, const OverflowCase* overflow, int node) {
  NodeRange range;
  range.path = range.half = range.largest = kNoLimit;
  if (!rounds || !tensor::is_float(type)) return range;
  const Rounding r = rounding_of(type, false);
  range.path = r.limit;
  range.half = r.half_limit;
  range.has_infinity = r.half_infinity;
  if (clips(type)) range.largest = largest_value(type);
  if (overflow == nullptr) return range;
  range.clamp = overflow->at[static_cast<size_t>(node)];
  range.order = overflow->order;
  range.eager = overflow->eager;
  range.saturates = overflow->saturates;
  return range;
}

uint8_t limit_value(const NodeRange& range, TrackedValue& y) {
  uint8_t found = 0;
  const double m = std::fabs(y.t), e = y.a < kNoLimit ? kPathFactor * y.a : 0;
  if (m <= kLargest && m + e > range.path) {
    const bool far = m > range.path;
    found = far ? kBeyondPath : kBeyondPath | kBeyondNear;
    if ((range.clamp & kBeyondPath) != 0 && (far || range.eager)) y = exactly(infinite(y.t));
  }
  return found | limit_half(range, y);
}

uint8_t limit_sum(const NodeRange& range, const SumEnds& ends, TrackedValue& y) {
  uint8_t found = 0;
  if (y.t == y.t && ends.up + ends.down > range.path) {
    const double e = y.a < kNoLimit ? kPathFactor * y.a : 0;
    const bool differ = range.mean && ends.up > 0 && ends.down > 0;
    // In differences, small terms of one sign are lost beside a huge one of the other.
    const double lost = ends.apart ? 0 : (ends.up + ends.down) * 0x1p-50;
    const double more = lost > range.path ? lost : (range.eager ? e : 0);
    const bool up = differ || ends.up + more > range.path;
    const bool down = differ || ends.down + more > range.path;
    if (up) found |= kBeyondPath | kBeyondUp;
    if (down) found |= kBeyondPath | kBeyondDown;
    // Finite terms against an infinite one: the order decides.
    if ((range.mean || std::isinf(y.t)) && (up || down)) found |= kBeyondUp | kBeyondDown;
    if (!up && !down && larger(ends.up, ends.down) + e > range.path)
      found |= kBeyondPath | kBeyondNear;
    if ((up || down) && (range.clamp & kBeyondPath) != 0) {
      const double t = overflowed_sum(range, y, up, down);
      if (t != y.t) y = exactly(t);
    }
  }
  return found | limit_half(range, y);
}

uint8_t limit_product(const NodeRange& range, double size, double small, TrackedValue& y) {
  uint8_t found = 0;
  if (y.t == y.t && size > range.path) {
    found = kBeyondPath;
    // Small factors alone may underflow to zero, and zero times infinity is NaN.
    const bool zero = y.t == 0 || (small < 0x1p-126 && range.order == SumOrder::Both);
    if (small < 0x1p-126) found |= kBeyondUp | kBeyondDown;
    if ((range.clamp & kBeyondPath) != 0) y = exactly(zero ? not_a_number() : infinite(y.t));
  }
  return found | limit_half(range, y);
}

uint8_t limit_snapped(const NodeRange& range, double x, double e, double& y) {
  const double m = std::fabs(x);
  const bool far = m > range.half, near = m + (e < kNoLimit ? e : 0) > range.half;
  if (!near || range.half == kNoLimit) return 0;
  const bool chosen = (range.clamp & kBeyondHalf) != 0;
  if (far || (chosen && range.eager)) {
    const bool clips = range.largest < kNoLimit && !range.has_infinity;
    y = chosen || !clips ? overflowed_half(range, x) : std::copysign(range.largest, x);
  }
  return far ? kBeyondHalf : kBeyondHalf | kBeyondNear;
}

}  // namespace kw::truth
