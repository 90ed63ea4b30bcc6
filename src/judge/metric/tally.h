// Counts the results of comparing elements, and merges the counts of several threads into one
// summary. Internal to the metric.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "metric/metric.h"
#include "ports/bound.h"
#include "ports/oracle.h"

namespace kw::metric {

/// Why an element fails, when not by its distance.
enum class ElementFault : uint8_t {
  Nothing,
  NanForNumber,
  NumberForNan,
  InfinityForNumber,
  NumberForInfinity,
  OtherInfinity,
  NotEqual,
  OuterBound,
  IndexOutOfRange,
  IndexTwice,
  IndexOfWorse,
  NotFirstOfTies,
};

/// Counts over one piece of the elements. Elements must be added in ascending order.
struct Tally {
  double sum_squares = 0;
  double max_abs = 0, max_rel = 0, max_ulps = 0;
  int64_t elements = 0, discontinuous = 0, overflowed = 0, failures = 0;
  // Elements that are right only by a value or a class that overflow gives.
  int64_t overflow_values = 0, overflow_classes = 0;
  int64_t telling = 0;  // elements at which a zero would fail
  int64_t worst = -1;   // index of the worst element; -1: every z is 0
  double worst_z = 0, worst_got = 0, worst_want = 0, worst_bound = 0, worst_ulps = 0;
  ElementFault why = ElementFault::Nothing;
  double limit = ports::bound_constants().max_z;
  double smallest_normal = 0;  // below it an element has no relative precision

  /// Counts an element whose z is not 0; z is infinite when `reason` says what is wrong. Inline,
  /// because it runs for nearly every element of an fp32 output.
  void add(int64_t index, double got, double want, double bound, double z, double ulps,
           ElementFault reason = ElementFault::Nothing) {
    const double limited = z < kLargestZ ? z : kLargestZ;
    sum_squares += limited * limited;
    if (z > limit) ++failures;
    const double distance = got > want ? got - want : want - got;
    if (distance < kInfinity) {
      max_abs = distance > max_abs ? distance : max_abs;
      const double size = want < 0 ? -want : want;
      const double relative = distance / size;
      if (size >= smallest_normal && relative > max_rel && relative < kInfinity) max_rel = relative;
      max_ulps = ulps > max_ulps ? ulps : max_ulps;
    }
    if (worst >= 0 && z <= worst_z) return;
    worst = index;
    worst_z = z;
    worst_got = got;
    worst_want = want;
    worst_bound = bound;
    worst_ulps = ulps;
    why = reason;
  }

  /// Next to a discontinuity both sides are right, so the distance does not show the precision. It
  /// counts only for the largest z.
  void add_beside_step(int64_t index, double got, double want, double bound, double z,
                       double ulps) {
    const double before = sum_squares;
    add(index, got, want, bound, z, ulps);
    if (z <= limit) sum_squares = before;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kLargestZ = 1e6;  // larger z are clipped; keeps sums finite
};

/// `pieces` must be in the order of their elements.
Comparison conclude(const ports::Truth& truth, const std::vector<Tally>& pieces);

/// Judges indices by the scores they select.
Comparison compare_indices(const ports::Truth& truth, const tensor::HostTensor& got,
                           const CompareOptions& options);

/// Returns the integer at a position, exact for every integer type (uint64 wraps) and bool.
int64_t integer_at(const tensor::HostTensor& tensor, int64_t index);

}  // namespace kw::metric
