#include "halving/stop.h"

#include <fmt/core.h>

namespace kw::halving {
namespace {

class Goal : public StopRule {
 public:
  explicit Goal(double share) : share_(share) {}
  std::optional<std::string> reason(const SearchProgress& progress) const override {
    if (progress.best_us <= 0 || progress.floor_us <= 0) return std::nullopt;
    if (progress.clock && !progress.measured) return std::nullopt;
    const double reached = progress.floor_us / progress.best_us;
    if (reached < share_) return std::nullopt;
    return fmt::format("goal reached: {:.0f} % of the floor", 100 * reached);
  }

 private:
  double share_;
};

class Seconds : public StopRule {
 public:
  explicit Seconds(double seconds) : seconds_(seconds) {}
  std::optional<std::string> reason(const SearchProgress& progress) const override {
    if (progress.seconds < seconds_) return std::nullopt;
    return fmt::format("time is up: {:g} s", seconds_);
  }

 private:
  double seconds_;
};

class Count : public StopRule {
 public:
  explicit Count(size_t count) : count_(count) {}
  std::optional<std::string> reason(const SearchProgress& progress) const override {
    if (progress.tried < count_) return std::nullopt;
    return fmt::format("{} candidates tried", count_);
  }

 private:
  size_t count_;
};

class Plateau : public StopRule {
 public:
  explicit Plateau(size_t looks) : most_(looks) {}
  std::optional<std::string> reason(const SearchProgress& progress) const override {
    if (progress.best_us <= 0 || progress.since_better < most_) return std::nullopt;
    return fmt::format("no better one among the last {}", most_);
  }

 private:
  size_t most_;
};

}  // namespace

StopRule::~StopRule() = default;

std::unique_ptr<StopRule> stop_at_goal(double share) { return std::make_unique<Goal>(share); }
std::unique_ptr<StopRule> stop_after_seconds(double seconds) {
  return std::make_unique<Seconds>(seconds);
}
std::unique_ptr<StopRule> stop_after_candidates(size_t count) {
  return std::make_unique<Count>(count);
}
std::unique_ptr<StopRule> stop_at_plateau(size_t looks) { return std::make_unique<Plateau>(looks); }

std::optional<std::string> first_reason(const StopRules& rules, const SearchProgress& progress) {
  for (const auto& rule : rules) {
    if (auto reason = rule->reason(progress)) return reason;
  }
  return std::nullopt;
}

}  // namespace kw::halving
