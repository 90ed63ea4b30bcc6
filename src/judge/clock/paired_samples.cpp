// The problem: times on a GPU drift, jump and depend on addresses, so two separate medians mislead.
// We compare only ratios within a pass and bootstrap over the hierarchy: processes, cycles, runs of
// neighbouring ratios. The alternative, a t-test on all samples, treats correlated samples as
// independent and gives intervals that are too narrow. The cost is 2000 resamples per comparison.
// The ratios of a cycle are sorted once, so that a resampled median needs counting only.
#include "clock/paired_samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "clock/random.h"
#include "clock/statistics.h"
#include "core/check.h"
#include "core/json_writer.h"

namespace kw::clock {
namespace {

constexpr int kResamples = 2000;
// (z of 99 % two-sided + z of 80 % power) / z of 99 %. An effect must exceed the half interval by
// this factor to be found with probability 0.8.
constexpr double kPower = (2.576 + 0.842) / 2.576;

/// Logarithms of baseline / candidate, averaged over two neighbouring passes.
using Ratios = std::vector<double>;
/// [worker][cycle]
using Tree = std::vector<std::vector<Ratios>>;

Ratios ratios_of(const Cycle& cycle) {
  KW_CHECK(cycle.candidate.size() == cycle.baseline.size(), "samples were taken in pairs");
  Ratios single;
  for (size_t i = 0; i < cycle.candidate.size(); ++i) {
    const double ratio = cycle.baseline[i] / cycle.candidate[i];
    if (std::isfinite(ratio) && ratio > 0) single.push_back(std::log(ratio));
  }
  Ratios averaged;
  for (size_t i = 0; i + 1 < single.size(); i += 2)
    averaged.push_back((single[i] + single[i + 1]) / 2);
  return averaged;
}

double middle(Ratios& values) {
  const auto half = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  if (values.size() % 2 == 1) return *half;
  return (*half + *std::max_element(values.begin(), half)) / 2;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Ratios to resample many times. They are sorted once; counting then gives the median of a
/// resample.
class Drawn {
 public:
  explicit Drawn(const Ratios& ratios)
      : sorted_(ratios), ranks_(ratios.size()), times_(ratios.size()) {
    std::vector<size_t> order(ratios.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return ratios[a] < ratios[b]; });
    for (size_t rank = 0; rank < order.size(); ++rank) {
      ranks_[order[rank]] = rank;
      sorted_[rank] = ratios[order[rank]];
    }
    run_ = std::max<size_t>(1, static_cast<size_t>(std::cbrt(static_cast<double>(ratios.size()))));
  }

  /// Returns the median of one resample. It draws runs of neighbours, because a slow device stays
  /// slow for several passes.
  double middle(Random& random) {
    const size_t size = ranks_.size();
    std::ranges::fill(times_, 0);
    for (size_t made = 0; made < size;) {
      size_t at = random.below(size);
      for (size_t i = 0; i < run_ && made < size; ++i, ++made) {
        ++times_[ranks_[at]];
        at = at + 1 < size ? at + 1 : 0;
      }
    }
    size_t rank = 0, before = 0, last = 0;  // ratios drawn below `rank`; rank of the last
    for (; before + times_[rank] <= size / 2; ++rank) {
      if (times_[rank] > 0) last = rank;
      before += times_[rank];
    }
    if (size % 2 == 1) return sorted_[rank];
    return (sorted_[rank] + sorted_[before < size / 2 ? rank : last]) / 2;
  }

 private:
  Ratios sorted_;
  std::vector<size_t> ranks_;  // by position
  std::vector<size_t> times_;  // number of times drawn, by rank
  size_t run_ = 1;
};

double estimate(const Tree& tree) {
  std::vector<double> workers;
  for (const auto& cycles : tree) {
    std::vector<double> medians;
    for (Ratios ratios : cycles) medians.push_back(middle(ratios));
    workers.push_back(mean(medians));
  }
  return mean(workers);
}

double resampled_estimate(std::vector<std::vector<Drawn>>& tree, Random& random) {
  std::vector<double> workers;
  for (size_t w = 0; w < tree.size(); ++w) {
    auto& cycles = tree[random.below(tree.size())];
    std::vector<double> medians;
    for (size_t c = 0; c < cycles.size(); ++c)
      medians.push_back(cycles[random.below(cycles.size())].middle(random));
    workers.push_back(mean(medians));
  }
  return mean(workers);
}

/// Corrects the spread, which resampling n groups underestimates by this factor.
double small_sample_factor(const Tree& tree) {
  size_t groups = tree.size();
  if (groups == 1) groups = tree[0].size();
  if (groups == 1) groups = tree[0][0].size();
  const auto n = static_cast<double>(groups);
  return n > 1 ? std::sqrt(n / (n - 1)) : 2;
}

/// Returns the share of the groups whose sign agrees with `whole`. Groups are workers, or the
/// cycles when there is only one worker.
double agreement(const Tree& tree, double whole) {
  std::vector<double> groups;
  if (tree.size() > 1) {
    for (const auto& cycles : tree) groups.push_back(estimate({cycles}));
  } else {
    for (const Ratios& ratios : tree[0]) groups.push_back(estimate({{ratios}}));
  }
  const auto same = std::count_if(groups.begin(), groups.end(),
                                  [&](double group) { return (group > 0) == (whole > 0); });
  return static_cast<double>(same) / static_cast<double>(groups.size());
}

void judge(const Tree& tree, double center, double low, double high, const CompareOptions& options,
           Comparison& result) {
  const double least = std::log1p(options.least_effect);
  const double same = std::log1p(options.same_within);
  const bool sure = (low > 0 || high < 0) && std::abs(center) >= least;
  if (sure && agreement(tree, center) >= 0.75) {
    result.relation = center > 0 ? Relation::Faster : Relation::Slower;
  } else if (low > -same && high < same) {
    result.relation = Relation::Same;
  } else {
    result.relation = Relation::Ambiguous;
    result.why =
        fmt::format("{}; a difference of {:.2g} % could be detected",
                    sure ? "the sign changes from one set of buffers or process to the next"
                         : "the interval reaches from slower to faster, or is wider than what "
                           "counts as the same",
                    100 * result.detectable);
  }
}

}  // namespace

const char* relation_name(Relation relation) {
  constexpr const char* kNames[] = {"FASTER", "SAME", "SLOWER", "AMBIGUOUS"};
  return kNames[static_cast<size_t>(relation)];
}

Comparison compare(std::span<const Cycle> cycles, const CompareOptions& options) {
  Comparison result;
  std::map<int, std::vector<Ratios>> by_worker;
  for (const Cycle& cycle : cycles) {
    Ratios ratios = ratios_of(cycle);
    if (ratios.empty()) continue;
    result.pairs += 2 * static_cast<int64_t>(ratios.size());
    ++result.cycles;
    by_worker[cycle.worker].push_back(std::move(ratios));
  }
  result.workers = static_cast<int>(by_worker.size());
  result.detectable = 1;
  if (result.pairs < options.least_pairs) {
    result.why = fmt::format("only {} pairs of samples", result.pairs);
    return result;
  }
  Tree tree;
  for (auto& [worker, ratios] : by_worker) tree.push_back(std::move(ratios));
  const double center = estimate(tree);
  Random random(options.seed);
  std::vector<std::vector<Drawn>> bags;
  for (const auto& ratios : tree) bags.emplace_back(ratios.begin(), ratios.end());
  std::vector<double> drawn(kResamples);
  for (double& value : drawn) value = resampled_estimate(bags, random);
  std::sort(drawn.begin(), drawn.end());
  const double tail = (1 - options.confidence) / 2;
  const double factor = small_sample_factor(tree);
  const double low = center - factor * std::max(0.0, center - quantile(drawn, tail));
  const double high = center + factor * std::max(0.0, quantile(drawn, 1 - tail) - center);
  result.speedup = std::exp(center);
  result.low = std::exp(low);
  result.high = std::exp(high);
  result.detectable =
      std::max(options.least_effect, std::expm1(kPower * std::max(high - center, center - low)));
  judge(tree, center, low, high, options, result);
  return result;
}

void fields(auto& v, Comparison& c) {
  v("verdict", computed(relation_name(c.relation)))("speedup", c.speedup)("low", c.low);
  v("high", c.high)("minimum_detectable_effect", c.detectable)("pairs", c.pairs);
  v("cycles", c.cycles)("workers", c.workers)("why", c.why, Zero::Omit);
}

Json to_json(const Comparison& comparison) { return record_json(comparison); }

}  // namespace kw::clock
