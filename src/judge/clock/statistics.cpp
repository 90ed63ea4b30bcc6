#include "clock/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "clock/random.h"
#include "core/check.h"
#include "core/json_writer.h"

namespace kw::clock {
namespace {

constexpr int kMedianResamples = 1000;
// Limits the time of the bootstrap. The interval of a larger set is that of 2000 samples.
constexpr size_t kMaxBootstrap = 2000;
constexpr double kNormalScale = 1.4826;
constexpr double kOutlierDeviations = 5;

double median_of(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

/// Takes at most kMaxBootstrap evenly spaced values; the distribution of a sorted set is kept.
std::vector<double> thinned(std::span<const double> sorted) {
  if (sorted.size() <= kMaxBootstrap) return {sorted.begin(), sorted.end()};
  std::vector<double> out(kMaxBootstrap);
  for (size_t i = 0; i < kMaxBootstrap; ++i) out[i] = sorted[i * sorted.size() / kMaxBootstrap];
  return out;
}

void bootstrap(std::span<const double> sorted, uint64_t seed, Summary& summary) {
  const std::vector<double> pool = thinned(sorted);
  Random random(seed);
  std::vector<size_t> drawn(pool.size());
  std::vector<double> medians(kMedianResamples);
  for (double& median : medians) {
    for (size_t& index : drawn) index = random.below(pool.size());
    // The pool is sorted, so the order of indices is the order of values.
    const size_t middle = drawn.size() / 2;
    std::nth_element(drawn.begin(), drawn.begin() + static_cast<ptrdiff_t>(middle), drawn.end());
    median = pool[drawn[middle]];
    if (drawn.size() % 2 == 0) {
      const size_t below =
          *std::max_element(drawn.begin(), drawn.begin() + static_cast<ptrdiff_t>(middle));
      median = (median + pool[below]) / 2;
    }
  }
  std::sort(medians.begin(), medians.end());
  summary.low = quantile(medians, 0.025);
  summary.high = quantile(medians, 0.975);
}

}  // namespace

double quantile(std::span<const double> sorted, double q) {
  KW_CHECK(!sorted.empty() && q >= 0 && q <= 1,
           "a quantile needs at least one value, and q from 0 to 1");
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = at - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

Summary summarise(std::span<const double> samples, uint64_t seed) {
  std::vector<double> sorted;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(sorted),
               [](double x) { return std::isfinite(x); });
  Summary summary;
  summary.count = static_cast<int64_t>(sorted.size());
  if (sorted.empty()) return summary;
  std::sort(sorted.begin(), sorted.end());
  summary.min = sorted.front();
  summary.max = sorted.back();
  summary.median = quantile(sorted, 0.5);
  summary.p5 = quantile(sorted, 0.05);
  summary.p95 = quantile(sorted, 0.95);
  std::vector<double> deviations;
  for (double x : sorted) deviations.push_back(std::abs(x - summary.median));
  summary.mad = median_of(deviations);
  const double deviation = kNormalScale * summary.mad;
  summary.relative_noise = summary.median > 0 ? deviation / summary.median : 0;
  // Equal samples have a deviation of 0, so no distance can be expressed in deviations.
  if (deviation > 0) {
    summary.outliers = std::count_if(sorted.begin(), sorted.end(), [&](double x) {
      return std::abs(x - summary.median) > kOutlierDeviations * deviation;
    });
  }
  bootstrap(sorted, seed, summary);
  return summary;
}

Json to_json(const Summary& summary) { return record_json(summary); }

}  // namespace kw::clock
