// When to stop searching. Each reason is an object; the first that speaks ends the search.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kw::halving {

/// Where a search stands.
struct Standing {
  size_t tried = 0;  // screened
  size_t refused = 0;
  size_t since_better = 0;  // looks at candidates since the best one changed
  double seconds = 0;       // since the search began
  double best_us = 0;       // 0: none yet
  bool clock = false;       // times can be had, so estimates reach no goal
  bool measured = false;    // best_us is a time
  double floor_us = 0;      // 0: not known
};

class StopRule {
 public:
  virtual ~StopRule();
  /// Why to stop now, in words; nothing to go on.
  virtual std::optional<std::string> reason(const Standing& standing) const = 0;
};
using StopRules = std::vector<std::unique_ptr<StopRule>>;

/// The best reaches this share of the floor.
std::unique_ptr<StopRule> stop_at_goal(double share);
std::unique_ptr<StopRule> stop_after_seconds(double seconds);
std::unique_ptr<StopRule> stop_after_candidates(size_t count);
/// So many looks without a better one.
std::unique_ptr<StopRule> stop_at_plateau(size_t looks);

std::optional<std::string> first_reason(const StopRules& rules, const Standing& standing);

}  // namespace kw::halving
