// Robust statistics of time samples: median, spread and the uncertainty of the median. All
// functions are pure.
#pragma once

#include <cstdint>
#include <span>

#include "core/json.h"

namespace kw::clock {

struct Summary {
  int64_t count = 0;
  double median = 0;  // all times are in the samples' unit (microseconds)
  double min = 0, max = 0;
  double p5 = 0, p95 = 0;
  double mad = 0;             // median absolute deviation from the median
  double relative_noise = 0;  // 1.4826 * mad / median: estimates the relative standard deviation
  double low = 0, high = 0;   // 95 % bootstrap interval of the median
  int64_t outliers = 0;       // more than 5 deviations (1.4826 * mad) off; reported, never removed
};

/// All fields are 0 for an empty set. Samples that are not finite are ignored. The same samples and
/// seed always give the same interval.
Summary summarise(std::span<const double> samples, uint64_t seed = 1);
void fields(auto& v, Summary& s) {
  v("count", s.count)("median_us", s.median)("low_us", s.low)("high_us", s.high)("min_us", s.min);
  v("p5_us", s.p5)("p95_us", s.p95)("max_us", s.max)("mad_us", s.mad);
  v("relative_noise", s.relative_noise)("outliers", s.outliers);
}
Json to_json(const Summary& summary);

/// The q-th quantile (0 … 1) of sorted samples, interpolated linearly.
double quantile(std::span<const double> sorted, double q);

}  // namespace kw::clock
