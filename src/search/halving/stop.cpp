#include "halving/stop.h"

#include <fmt/core.h>

namespace kw::halving {

using Reason = std::optional<std::string>;

StopRule stop_at_goal(double share) {
  return [share](const SearchProgress& progress) -> Reason {
    if (progress.best_us <= 0 || progress.floor_us <= 0) return std::nullopt;
    if (progress.clock && !progress.measured) return std::nullopt;
    const double reached = progress.floor_us / progress.best_us;
    if (reached < share) return std::nullopt;
    return fmt::format("goal reached: {:.0f} % of the floor", 100 * reached);
  };
}

StopRule stop_after_seconds(double seconds) {
  return [seconds](const SearchProgress& progress) -> Reason {
    if (progress.seconds < seconds) return std::nullopt;
    return fmt::format("time is up: {:g} s", seconds);
  };
}

StopRule stop_after_candidates(size_t count) {
  return [count](const SearchProgress& progress) -> Reason {
    if (progress.tried < count) return std::nullopt;
    return fmt::format("{} candidates tried", count);
  };
}

StopRule stop_at_plateau(size_t looks) {
  return [looks](const SearchProgress& progress) -> Reason {
    if (progress.best_us <= 0 || progress.since_better < looks) return std::nullopt;
    return fmt::format("no better candidate among the last {}", looks);
  };
}

std::optional<std::string> first_reason(const StopRules& rules, const SearchProgress& progress) {
  for (const StopRule& rule : rules) {
    if (auto reason = rule(progress)) return reason;
  }
  return std::nullopt;
}

}  // namespace kw::halving
