// When to stop searching. Each rule is an object; the first rule that gives a reason ends the
// search.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kw::halving {

/// The state of a search that the rules decide on.
struct SearchProgress {
  size_t tried = 0;  // screened candidates
  size_t refused = 0;
  size_t since_better = 0;  // results since the best candidate improved
  double seconds = 0;       // since the search began
  double best_us = 0;       // 0: no candidate yet
  bool clock = false;       // the judge can measure, so an estimate does not reach the goal
  bool measured = false;    // best_us is measured, not estimated
  double floor_us = 0;      // 0: unknown
};

class StopRule {
 public:
  virtual ~StopRule();
  /// Why to stop now, as text; not set: continue.
  virtual std::optional<std::string> reason(const SearchProgress& progress) const = 0;
};
using StopRules = std::vector<std::unique_ptr<StopRule>>;

/// Stops when floor / best time reaches this share.
std::unique_ptr<StopRule> stop_at_goal(double share);
std::unique_ptr<StopRule> stop_after_seconds(double seconds);
std::unique_ptr<StopRule> stop_after_candidates(size_t count);
/// Stops after this many results without a better candidate.
std::unique_ptr<StopRule> stop_at_plateau(size_t looks);

std::optional<std::string> first_reason(const StopRules& rules, const SearchProgress& progress);

}  // namespace kw::halving
