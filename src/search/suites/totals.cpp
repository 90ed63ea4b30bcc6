// Few tasks and noisy speedups make a single mean misleading. So each statistic has a 95 %
// interval: Wilson's for rates, because it is valid for small counts and for 0 % and 100 %; the
// percentile bootstrap over tasks for medians, quartiles and means. Failed tasks count in every
// rate, so a suite cannot improve by failing on hard tasks. Speedups use only measured rows;
// estimates have their own line. A normal interval was the alternative; speedups are skewed. The
// cost: 4000 resamples per statistic. The seed is fixed, so the same rows give the same numbers.
#include "suites/totals.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "clock/statistics.h"
#include "core/json_writer.h"
#include "core/random.h"

namespace kw::suites {

namespace {

constexpr int kResamples = 4000;
constexpr double kNormal95 = 1.959963984540054;
constexpr double kNearFloor = 0.95;
constexpr double kSpeeds[] = {0.5, 0.8, 1.0, 1.5, 2.0};

using Statistic = std::function<double(std::span<const double>)>;

double quantile_of(std::span<const double> values, double q) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return clock::quantile(sorted, q);
}

double median(std::span<const double> values) { return quantile_of(values, 0.5); }
double lower_quartile(std::span<const double> values) { return quantile_of(values, 0.25); }

double geometric_mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

/// The percentile bootstrap over tasks.
std::optional<Estimated> estimated(const std::vector<double>& values, const Statistic& statistic,
                                   uint64_t seed) {
  if (values.empty()) return std::nullopt;
  Random random(seed);
  std::vector<double> drawn(values.size()), results;
  for (int i = 0; i < kResamples; ++i) {
    for (double& value : drawn) value = values[random.below(values.size())];
    results.push_back(statistic(drawn));
  }
  std::sort(results.begin(), results.end());
  return Estimated{statistic(values), clock::quantile(results, 0.025),
                   clock::quantile(results, 0.975)};
}

bool usable(const std::optional<double>& number) {
  return number && std::isfinite(*number) && *number > 0;
}

std::vector<double> collect(std::span<const TaskRow> rows, std::optional<double> TaskRow::*member,
                            bool measured) {
  std::vector<double> values;
  for (const TaskRow& row : rows) {
    if (row.passed && row.measured == measured && usable(row.*member))
      values.push_back(*(row.*member));
  }
  return values;
}

void add_speedups(std::span<const TaskRow> rows, uint64_t seed, Totals* totals) {
  const std::vector<double> speedups = collect(rows, &TaskRow::speedup, true);
  totals->compared = static_cast<int64_t>(speedups.size());
  totals->median = estimated(speedups, median, seed);
  totals->p25 = estimated(speedups, lower_quartile, seed);
  totals->geomean = estimated(speedups, geometric_mean, seed);
  const auto all = static_cast<int64_t>(rows.size());
  for (const double p : kSpeeds) {
    totals->fast_p[p] =
        rate_of(std::ranges::count_if(speedups, [&](double speedup) { return speedup > p; }), all);
  }
  if (speedups.size() < 2) return;
  const auto best = std::ranges::max_element(rows, {}, [](const TaskRow& row) {
    return row.passed && row.measured && usable(row.speedup) ? *row.speedup : 0;
  });
  std::vector<double> others = speedups;
  others.erase(std::ranges::max_element(others));
  totals->without_best = WithoutBest{best->kernel, *best->speedup, geometric_mean(others)};
}

void add_floor(std::span<const TaskRow> rows, uint64_t seed, Totals* totals) {
  const std::vector<double> shares = collect(rows, &TaskRow::of_floor, true);
  totals->of_floor = estimated(shares, median, seed);
  if (!shares.empty()) totals->of_floor_p25 = lower_quartile(shares);
  totals->near_floor =
      rate_of(std::ranges::count_if(shares, [](double share) { return share >= kNearFloor; }),
              static_cast<int64_t>(shares.size()));
  const std::vector<double> estimates = collect(rows, &TaskRow::of_floor, false);
  if (!estimates.empty()) totals->estimated_of_floor = median(estimates);
}

void add_costs(std::span<const TaskRow> rows, Totals* totals) {
  std::vector<double> seconds;
  for (const TaskRow& row : rows) {
    seconds.push_back(row.wall_seconds);
    totals->seconds += row.wall_seconds;
    totals->tokens_in += row.tokens_in;
    totals->tokens_out += row.tokens_out;
    if (row.cost_usd) totals->cost_usd = totals->cost_usd.value_or(0) + *row.cost_usd;
  }
  if (!seconds.empty()) totals->median_seconds = median(seconds);
  if (totals->cost_usd && totals->passed.count > 0)
    totals->cost_per_passed = *totals->cost_usd / static_cast<double>(totals->passed.count);
}

void count_rows(std::span<const TaskRow> rows, Totals* totals) {
  int64_t passed = 0;
  for (const TaskRow& row : rows) {
    totals->baseline_failed += row.baseline_status == "failed" ? 1 : 0;
    if (!row.passed) {
      ++totals->failures[row.failure_kind.empty() ? kStageFailure : row.failure_kind];
      continue;
    }
    ++passed;
    totals->below_target += row.below_target.value_or(false) ? 1 : 0;
    totals->faster += row.relation == "FASTER" ? 1 : 0;
    totals->same += row.relation == "SAME" ? 1 : 0;
    totals->slower += row.relation == "SLOWER" ? 1 : 0;
    totals->ambiguous += row.relation == "AMBIGUOUS" ? 1 : 0;
  }
  const auto all = static_cast<int64_t>(rows.size());
  totals->passed = rate_of(passed, all);
  totals->fast_1 = rate_of(totals->faster, all);
  totals->not_slower = rate_of(totals->faster + totals->same, all);
}

}  // namespace

Rate rate_of(int64_t count, int64_t of) {
  Rate rate{count, of, {}};
  if (of <= 0) return rate;
  const auto n = static_cast<double>(of);
  const double share = static_cast<double>(count) / n, z2 = kNormal95 * kNormal95;
  const double centre = (share + z2 / (2 * n)) / (1 + z2 / n);
  const double half =
      kNormal95 * std::sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n);
  rate.share = {share, std::max(0.0, centre - half), std::min(1.0, centre + half)};
  return rate;
}

Totals totals_of(std::span<const TaskRow> rows, uint64_t seed) {
  Totals totals;
  count_rows(rows, &totals);
  add_speedups(rows, seed, &totals);
  add_floor(rows, seed, &totals);
  add_costs(rows, &totals);
  return totals;
}

void fields(auto& v, Estimated& e) { v("value", e.value)("low", e.low)("high", e.high); }

void fields(auto& v, Rate& r) { v("count", r.count)("of", r.of)("share", r.share); }

Json to_json(const Totals& t) {
  JsonWriter v;
  v("pass_rate", t.passed)("fast_1", t.fast_1)("not_slower", t.not_slower)("faster", t.faster);
  v("same", t.same)("slower", t.slower)("ambiguous", t.ambiguous)("compared", t.compared);
  v("median_speedup", t.median)("p25_speedup", t.p25)("geomean_speedup", t.geomean);
  if (t.without_best) {
    v.group("without_best", [&](auto& g) {
      g("kernel", t.without_best->kernel)("speedup", t.without_best->speedup);
      g("geomean_of_others", t.without_best->geomean);
    });
  }
  Json fast_p = Json::array();
  for (const auto& [p, rate] : t.fast_p) fast_p.push(record_json(rate).set("p", p));
  v("fast_p", fast_p)("of_floor", t.of_floor)("of_floor_p25", t.of_floor_p25);
  v("near_floor", t.near_floor)("estimated_of_floor", t.estimated_of_floor);
  v("below_target", t.below_target)("baseline_failed", t.baseline_failed)("failures", t.failures);
  v("seconds", t.seconds)("median_seconds", t.median_seconds)("cost_usd", t.cost_usd);
  v("cost_per_passed", t.cost_per_passed)("tokens_in", t.tokens_in)("tokens_out", t.tokens_out);
  return v.take();
}

}  // namespace kw::suites
