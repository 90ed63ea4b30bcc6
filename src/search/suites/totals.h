// Statistics of all rows: rates, quantiles and the geometric mean of speedups with intervals,
// distance to the floor, time and cost. Pure functions of the rows; docs/eval.md has the formulas.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "suites/row.h"

namespace kw::suites {

/// A number with its 95 % interval.
struct Estimated {
  double value = 0, low = 0, high = 0;
};

/// `count` of `of`, with Wilson's interval.
struct Rate {
  int64_t count = 0, of = 0;
  Estimated share;
};
Rate rate_of(int64_t count, int64_t of);

/// The largest speedup, and the geometric mean without it: shows whether one outlier makes the
/// result.
struct WithoutBest {
  std::string kernel;
  double speedup = 0, geomean = 0;
};

struct Totals {
  Rate passed;
  Rate fast_1;      // strict: FASTER than the best baseline, of all tasks
  Rate not_slower;  // FASTER or SAME, of all tasks
  Rate near_floor;  // at least 95 %, of rows with a measured time and a floor
  int64_t faster = 0, same = 0, slower = 0, ambiguous = 0;
  int64_t compared = 0;  // passed rows with a measured speedup; used by the next four
  std::optional<Estimated> median, p25, geomean;
  std::optional<WithoutBest> without_best;
  std::map<double, Rate> fast_p;      // by p: a measured speedup above p, of all tasks
  std::optional<Estimated> of_floor;  // median of measured rows
  std::optional<double> of_floor_p25;
  std::optional<double> estimated_of_floor;  // median of rows without a clock
  int64_t below_target = 0, baseline_failed = 0;
  std::map<std::string, int64_t> failures;  // by kind
  double seconds = 0, median_seconds = 0;
  std::optional<double> cost_usd, cost_per_passed;
  int64_t tokens_in = 0, tokens_out = 0;
};

/// Intervals come from resampling rows. The same rows and seed always give the same numbers.
Totals totals_of(std::span<const TaskRow> rows, uint64_t seed = 1);

Json to_json(const Totals& totals);

}  // namespace kw::suites
