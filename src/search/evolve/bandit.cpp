// The problem: models differ in price and quality, and which one is best for a task is unknown. UCB
// decides: each arm's gain per dollar, plus a bonus that shrinks as it is asked more often. Gains
// are logarithms of speedups; a right candidate without a gain still counts a little. An unknown
// price is taken to be the mean price of all arms. Asking all arms in turn would be simpler, but
// pays as much to bad models as to good ones. After a failure an arm pauses for a doubling number
// of requests. A lasting failure, or three in a row, removes it. The cost: in a short run most
// choices are exploration.
#include "evolve/bandit.h"

#include <algorithm>
#include <cmath>

#include "core/contains.h"
#include "core/json_writer.h"

namespace kw::evolve {
namespace {

constexpr double kExplore = 0.7;    // weight of the bonus for rarely asked arms
constexpr double kHope = 0.05;      // gain that each arm starts with
constexpr double kRight = 0.01;     // reward of a candidate that passes without a gain
constexpr double kLeastUsd = 1e-4;  // least price, so that gain per dollar is defined for free arms
constexpr const char* kLeftOut = "no longer in the ensemble";
constexpr int64_t kMostFailures = 3;  // in a row, each after the client's own retries

}  // namespace

void fields(auto& v, ArmRecord& a) {
  v("arm", a.name)("asked", a.pulls)("answered", a.answered)("right", a.right)("better", a.better);
  v("gain", a.gain)("usd", a.usd)("unpriced", a.unpriced)("gone", a.gone, Zero::Null);
}

Json to_json(const ArmRecord& arm) { return record_json(arm); }

void Bandit::set_arms(const std::vector<std::string>& names) {
  std::vector<ArmRecord> arms;
  for (const std::string& name : names) {
    ArmRecord arm;
    if (const ArmRecord* known = find(name)) arm = *known;
    arm.name = name;
    // The cause of a failure in an earlier session may be repaired.
    arm.gone.clear();
    arm.failures = arm.wait_until = arm.in_flight = 0;
    arms.push_back(std::move(arm));
  }
  // Arms that were removed keep their costs, and may come back.
  for (ArmRecord& arm : arms_) {
    if (contains(names, arm.name) || arm.pulls == 0) continue;
    arm.gone = kLeftOut;
    arms.push_back(std::move(arm));
  }
  arms_ = std::move(arms);
}

ArmRecord* Bandit::find(const std::string& name) {
  const auto at = std::ranges::find(arms_, name, &ArmRecord::name);
  return at == arms_.end() ? nullptr : &*at;
}

bool Bandit::knows(const std::string& arm) const {
  return std::ranges::any_of(
      arms_, [&](const ArmRecord& one) { return one.name == arm && one.gone != kLeftOut; });
}

bool Bandit::all_gone() const {
  return std::ranges::all_of(arms_, [](const ArmRecord& arm) { return !arm.gone.empty(); });
}

// The price of one answer; if unknown, the mean of all arms.
double Bandit::price(const ArmRecord& arm) const {
  double usd = arm.usd;
  int64_t priced = arm.pulls - arm.unpriced - arm.free;
  if (priced <= 0) {
    usd = 0;
    priced = 0;
    for (const ArmRecord& other : arms_) {
      usd += other.usd;
      priced += std::max<int64_t>(0, other.pulls - other.unpriced - other.free);
    }
  }
  return std::max(kLeastUsd, priced > 0 ? usd / static_cast<double>(priced) : 0);
}

std::optional<std::string> Bandit::choose(int64_t now) const {
  std::vector<const ArmRecord*> open;
  const ArmRecord* next = nullptr;  // the arm whose pause ends first
  int64_t pulls = 0;
  for (const ArmRecord& arm : arms_) {
    pulls += arm.pulls + arm.in_flight;
    if (!arm.gone.empty()) continue;
    if (arm.wait_until <= now)
      open.push_back(&arm);
    else if (next == nullptr || arm.wait_until < next->wait_until)
      next = &arm;
  }
  if (open.empty()) return next == nullptr ? std::nullopt : std::optional(next->name);
  const auto worth = [&](const ArmRecord& arm) {
    return (arm.gain + kHope) / static_cast<double>(arm.pulls + 1) / price(arm);
  };
  double most = 0;
  for (const ArmRecord* arm : open) most = std::max(most, worth(*arm));
  const ArmRecord* chosen = nullptr;
  double highest = -1;
  for (const ArmRecord* arm : open) {
    const int64_t asked = arm->pulls + arm->in_flight;
    if (asked == 0) return arm->name;
    const double bound = (most > 0 ? worth(*arm) / most : 0) +
                         kExplore * std::sqrt(std::log(1.0 + static_cast<double>(pulls)) /
                                              static_cast<double>(asked));
    if (bound > highest) {
      highest = bound;
      chosen = arm;
    }
  }
  return chosen->name;
}

void Bandit::begin(const std::string& arm) {
  if (ArmRecord* record = find(arm)) ++record->in_flight;
}

void Bandit::answered(const std::string& arm, bool candidate, std::optional<double> usd) {
  ArmRecord* record = find(arm);
  if (record == nullptr) return;
  record->in_flight = std::max<int64_t>(0, record->in_flight - 1);
  ++record->pulls;
  record->answered += candidate;
  record->failures = 0;
  pay(*record, usd);
}

void Bandit::pay(ArmRecord& arm, std::optional<double> usd) {
  if (usd)
    arm.usd += *usd;
  else
    ++arm.unpriced;
}

void Bandit::failed(const std::string& arm, ModelFailure failure, const std::string& why,
                    int64_t now, std::optional<double> usd) {
  ArmRecord* record = find(arm);
  if (record == nullptr) return;
  record->in_flight = std::max<int64_t>(0, record->in_flight - 1);
  if (failure != ModelFailure::Budget) {
    ++record->pulls;
    pay(*record, usd);
    record->free += usd == 0.0;
  }
  ++record->failures;
  record->wait_until = now + (int64_t{1} << std::min<int64_t>(record->failures, 10));
  if (failure != ModelFailure::Passing || record->failures >= kMostFailures) record->gone = why;
}

void Bandit::reward(const std::string& arm, double gain) {
  ArmRecord* record = find(arm);
  if (record == nullptr) return;
  ++record->right;
  record->better += gain > 0;
  record->gain += std::clamp(gain, 0.0, 1.0) + kRight;
}

}  // namespace kw::evolve
