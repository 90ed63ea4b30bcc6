#include <algorithm>
#include <array>
#include <cmath>

#include "profile/roofline.h"

namespace kw::profile {
namespace {

constexpr double kEqual = 1e-9;  // remainders that differ by less are equal

struct AxisShare {
  int AxisBudget::*axis;
  int rank;  // of equal shares the smaller rank comes first
  double gap;
  double raw = 0;
};

}  // namespace

int AxisBudget::of(const std::string& axis) const {
  return axis == "compute" ? compute : axis == "memory" ? memory : axis == "latency" ? latency : 0;
}

// Largest remainder method: each axis gets the whole part of its share. The axes with the largest
// remainders get the rest.
AxisBudget axis_budget(const Gaps& gaps) {
  std::vector<AxisShare> shares;
  const auto add = [&](int AxisBudget::*axis, int rank, const std::optional<double>& gap) {
    if (gap && *gap >= kNegligible) shares.push_back({axis, rank, std::min(*gap, 1.0)});
  };
  add(&AxisBudget::memory, 0, gaps.memory);
  add(&AxisBudget::latency, 1, gaps.latency);
  add(&AxisBudget::compute, 2, gaps.compute);
  AxisBudget budget;
  double sum = 0;
  for (const AxisShare& share : shares) sum += share.gap;
  int left = std::min(kBudget, kAxisCap * static_cast<int>(shares.size()));
  for (AxisShare& share : shares) {
    share.raw = kBudget * share.gap / sum;
    budget.*share.axis = std::min(kAxisCap, static_cast<int>(std::floor(share.raw + kEqual)));
    left -= budget.*share.axis;
  }
  std::sort(shares.begin(), shares.end(), [](const AxisShare& a, const AxisShare& b) {
    const double rest_a = a.raw - std::floor(a.raw + kEqual);
    const double rest_b = b.raw - std::floor(b.raw + kEqual);
    if (std::abs(rest_a - rest_b) > kEqual) return rest_a > rest_b;
    return std::abs(a.gap - b.gap) > kEqual ? a.gap > b.gap : a.rank < b.rank;
  });
  while (left > 0) {
    for (const AxisShare& share : shares) {
      if (left == 0 || budget.*share.axis == kAxisCap) continue;
      ++(budget.*share.axis);
      --left;
    }
  }
  return budget;
}

}  // namespace kw::profile
