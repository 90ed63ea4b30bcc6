// What a pass over elements gathers, and how the pieces of several threads become one summary.
// Internal to the metric.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/oracle.h"
#include "verify/metric.h"

namespace kw::verify {

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
  double max_z = 0, max_abs = 0, max_rel = 0, max_ulps = 0;
  int64_t elements = 0, discontinuous = 0, overflowed = 0, failures = 0;
  int64_t worst = -1;  // element; -1: every z is 0
  double worst_z = 0, worst_got = 0, worst_want = 0, worst_bound = 0, worst_ulps = 0;
  Why why = Why::Nothing;

  /// Counts an element whose z is not 0; z is infinite where only a word says what is wrong.
  void add(int64_t index, double got, double want, double bound, double z, double ulps,
           Why reason = Why::Nothing);
};

/// Pieces in the order of their elements.
Comparison conclude(const exec::Truth& truth, const std::vector<Tally>& pieces);

/// Indices judged by what they point at.
Comparison compare_indices(const exec::Truth& truth, const tensor::HostTensor& got,
                           const CompareOptions& options);

/// The integer at a position, exact for every integer type (uint64 wraps), and bool.
int64_t integer_at(const tensor::HostTensor& tensor, int64_t index);

}  // namespace kw::verify
