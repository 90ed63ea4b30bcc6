// What a pass over elements gathers, and how the pieces of several threads become one summary.
// Internal to the metric.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gate/metric.h"
#include "ports/bound.h"
#include "ports/oracle.h"

namespace kw::gate {

/// Why an element fails where no number says it.
enum class Why : uint8_t {
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

/// One piece of the elements. Elements must be added in ascending order.
struct Tally {
  double sum_squares = 0;
  double max_abs = 0, max_rel = 0, max_ulps = 0;
  int64_t elements = 0, discontinuous = 0, overflowed = 0, failures = 0;
  int64_t telling = 0;  // a zero would not do
  int64_t worst = -1;   // element; -1: every z is 0
  double worst_z = 0, worst_got = 0, worst_want = 0, worst_bound = 0, worst_ulps = 0;
  Why why = Why::Nothing;
  double limit = ports::bound_constants().max_z;

  /// Counts an element whose z is not 0; z is infinite where only a word says what is wrong.
  /// Inline: in fp32 outputs nearly every element comes here.
  void add(int64_t index, double got, double want, double bound, double z, double ulps,
           Why reason = Why::Nothing) {
    const double limited = z < kLargestZ ? z : kLargestZ;
    sum_squares += limited * limited;
    if (z > limit) ++failures;
    const double distance = got > want ? got - want : want - got;
    if (distance < kInfinity) {
      max_abs = distance > max_abs ? distance : max_abs;
      const double relative = distance / (want < 0 ? -want : want);
      if (relative > max_rel && relative < kInfinity) max_rel = relative;
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

  /// Beside a step both of its sides are right, so the distance says nothing about the precision:
  /// it counts towards the largest z only.
  void add_beside_step(int64_t index, double got, double want, double bound, double z,
                       double ulps) {
    const double before = sum_squares;
    add(index, got, want, bound, z, ulps);
    if (z <= limit) sum_squares = before;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kLargestZ = 1e6;  // beyond it a z says no more; keeps sums finite
};

/// Pieces in the order of their elements.
Comparison conclude(const ports::Truth& truth, const std::vector<Tally>& pieces);

/// Indices judged by what they point at.
Comparison compare_indices(const ports::Truth& truth, const tensor::HostTensor& got,
                           const CompareOptions& options);

/// The integer at a position, exact for every integer type (uint64 wraps), and bool.
int64_t integer_at(const tensor::HostTensor& tensor, int64_t index);

}  // namespace kw::gate
