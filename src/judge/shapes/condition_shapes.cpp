// The search for shapes at which conditions of the code meet as at no known one. A shape costs
// microseconds to ask and milliseconds to run, so thousands are asked and few are run: those that
// show what few others do. Half of the draws keep extents of shapes that were the first to show
// something, so that rare conditions of several dims meet.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <utility>

#include "shapes/launch_conditions.h"

namespace kw::shapes {

namespace {

constexpr size_t kShapeDraws = 12000;
constexpr size_t kMostConditionShapes = 48;
constexpr size_t kLeastDraws = 500, kMostEvaluated = 6'000'000;  // instructions
constexpr double kMostElements = 1 << 23;
constexpr size_t kTripled = 12;   // the first conditions, of which each three are met
constexpr double kCrossed = 0.5;  // of the draws: part of a shape that showed something
constexpr int64_t kSmallExtent = 64, kLargeExtent = 6000;

/// Random shapes. Half of them keep extents of one that was the first to show something.
class ShapeDraw {
 public:
  ShapeDraw(const task::Task& task, uint64_t secret) : task_(task), random_(secret) {}

  task::Dims next(const std::vector<task::Dims>& parents) {
    task::Dims dims;
    const bool crossed = !parents.empty() && part() < kCrossed;
    const task::Dims* parent = crossed ? &parents[random_() % parents.size()] : nullptr;
    int64_t other = 1;
    for (const auto& [name, range] : task_.dims) {
      const bool keeps = parent != nullptr && random_() % 2 == 0;
      const int64_t kept = keeps ? parent->at(name) : extent(other);
      other = dims[name] = range.nearest(std::max<int64_t>(kept, 1));
    }
    return dims;
  }

 private:
  double part() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  /// Small, of any size, or one that another dim has, doubled or halved.
  int64_t extent(int64_t other) {
    switch (random_() % 4) {
      case 0:
        return 1 + static_cast<int64_t>(random_() % kSmallExtent);
      case 1:
        return random_() % 2 == 0 ? other : random_() % 2 == 0 ? 2 * other : other / 2;
      case 2:
        return 1 + static_cast<int64_t>(random_() % kLargeExtent);
      default:
        return static_cast<int64_t>(std::exp2(part() * std::log2(kLargeExtent)));
    }
  }

  const task::Task& task_;
  std::mt19937_64 random_;
};

/// What a set of conditions does at a shape, as numbers: each condition, each two, each three.
class Ways {
 public:
  explicit Ways(const std::vector<LaunchConditions>& kernels) : kernels_(kernels) {}

  size_t count() const { return kernels_.size() * kOfOne; }
  /// Those of one condition come before those of two, and these before those of three.
  static size_t conditions(size_t way) {
    const size_t at = way % kOfOne;
    return at < kSingle ? 1 : at < kSingle + kPairs ? 2 : 3;
  }
  void at(const kernel::Scope& scope, std::vector<size_t>* ways) const {
    ways->clear();
    for (size_t kernel = 0; kernel < kernels_.size(); ++kernel) {
      const std::vector<std::optional<bool>> holds = kernels_[kernel].at(scope);
      const size_t first = kernel * kOfOne;
      for (size_t i = 0; i < holds.size(); ++i) {
        if (!holds[i]) continue;
        const size_t one = 2 * i + size_t{*holds[i]};
        ways->push_back(first + one);
        for (size_t k = i + 1; k < holds.size(); ++k) {
          if (!holds[k]) continue;
          const size_t two = kSingle * one + 2 * k + size_t{*holds[k]};
          ways->push_back(first + kSingle + two);
          if (k >= kTripled) continue;
          for (size_t m = k + 1; m < std::min(holds.size(), kTripled); ++m) {
            if (holds[m])
              ways->push_back(first + kSingle + kPairs + kSingle * two + 2 * m + size_t{*holds[m]});
          }
        }
      }
    }
  }

 private:
  static constexpr size_t kSingle = 2 * kMostPredicates, kPairs = kSingle * kSingle;
  static constexpr size_t kOfOne = kSingle + kPairs + kSingle * kPairs;
  const std::vector<LaunchConditions>& kernels_;
};

/// What drawn shapes showed: how often, and the smallest.
struct Shown {
  size_t way = 0, draws = 0;
  task::Dims smallest;
  double size = 0;
};

double extents_product(const task::Dims& dims) {
  double product = 1;
  for (const auto& [name, extent] : dims) product *= static_cast<double>(extent);
  return product;
}

}  // namespace

std::vector<task::Dims> condition_shapes(const PlanView& view,
                                         const std::vector<LaunchConditions>& kernels, int group,
                                         const std::vector<task::Dims>& known, uint64_t secret) {
  size_t conditions = 0, instructions = 0;
  for (const LaunchConditions& one : kernels) {
    conditions += one.count();
    instructions += one.instructions();
  }
  if (conditions == 0) return {};
  const size_t draws =
      std::clamp(kMostEvaluated / std::max<size_t>(instructions, 1), kLeastDraws, kShapeDraws);
  kernel::Scope scope = view.fixed_scope();
  const auto selects = [&](const task::Dims& dims) {
    return view.enter(dims, &scope) && view.group_at(scope) == group;
  };
  const Ways ways(kernels);
  std::vector<bool> seen(ways.count(), false);
  std::vector<size_t> here;
  const auto note = [&] {
    ways.at(scope, &here);
    for (const size_t way : here) seen[way] = true;
  };
  for (const task::Dims& dims : known) {
    if (selects(dims)) note();
  }
  std::map<size_t, Shown> shown;
  std::vector<task::Dims> parents;
  ShapeDraw draw(view.task(), secret);
  for (size_t i = 0; i < draws; ++i) {
    const task::Dims dims = draw.next(parents);
    const double size = extents_product(dims);
    if (size > kMostElements || !selects(dims)) continue;
    ways.at(scope, &here);
    bool first = false;
    for (const size_t way : here) {
      if (seen[way]) continue;
      Shown& one = shown[way];
      first = first || one.draws == 0;
      if (one.draws++ == 0 || size < one.size) one = {way, one.draws, dims, size};
    }
    if (first) parents.push_back(dims);
  }
  // What few draws show is what no other shape would.
  std::vector<const Shown*> order;
  for (const auto& [way, one] : shown) order.push_back(&one);
  std::ranges::stable_sort(order, {}, [](const Shown* one) {
    return std::pair(Ways::conditions(one->way), one->draws);
  });
  std::vector<task::Dims> chosen;
  for (const Shown* one : order) {
    if (chosen.size() == kMostConditionShapes) break;
    if (seen[one->way] || !selects(one->smallest)) continue;
    note();
    chosen.push_back(one->smallest);
  }
  return chosen;
}

}  // namespace kw::shapes
