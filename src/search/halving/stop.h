// When to stop searching. The first rule that gives a reason ends the search.
#pragma once

#include <cstddef>
#include <functional>
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

/// Why to stop now, as text; not set: continue.
using StopRule = std::function<std::optional<std::string>(const SearchProgress& progress)>;
using StopRules = std::vector<StopRule>;

/// Stops when floor / best time reaches this share.
StopRule stop_at_goal(double share);
StopRule stop_after_seconds(double seconds);
StopRule stop_after_candidates(size_t count);
/// Stops after this many results without a better candidate.
StopRule stop_at_plateau(size_t looks);

std::optional<std::string> first_reason(const StopRules& rules, const SearchProgress& progress);

}  // namespace kw::halving
