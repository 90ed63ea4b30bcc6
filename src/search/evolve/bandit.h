// Who is asked next: upper confidence bounds over improvement per dollar. An arm that fails is left
// alone for a while, and one that keeps failing for good. Counts in orders, never in seconds, so
// that the same history gives the same choice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "evolve/ports.h"

namespace kw::evolve {

/// What is known about one arm.
struct ArmRecord {
  std::string name;
  int64_t pulls = 0, in_flight = 0;
  int64_t answered = 0, right = 0,
          better = 0;      // of the pulls: a candidate, one that passed, a gain
  double gain = 0;         // sum; 0.1 is about a tenth faster
  double usd = 0;          // sum of what is known
  int64_t unpriced = 0;    // pulls whose cost is not known
  int64_t free = 0;        // failures that cost nothing: they say nothing about an answer's price
  int64_t failures = 0;    // in a row
  int64_t wait_until = 0;  // order number
  std::string gone;        // why it is not asked any more; "" while it is
};
Json to_json(const ArmRecord& arm);

class Bandit {
 public:
  /// Arms that are there already keep what is known of them; others are not asked any more.
  void set_arms(const std::vector<std::string>& names);

  /// Nothing when every arm is gone. `now` is the number of the order to be placed.
  std::optional<std::string> choose(int64_t now) const;
  void begin(const std::string& arm);
  /// An answer that held a candidate, or none. `gain` comes later, by reward().
  void answered(const std::string& arm, bool candidate, std::optional<double> usd);
  /// No answer; it may have cost something all the same. What a budget kept from being sent was
  /// never asked.
  void failed(const std::string& arm, Trouble trouble, const std::string& why, int64_t now,
              std::optional<double> usd);
  /// A candidate of this arm passed; `gain` over the best of before, 0 or more.
  void reward(const std::string& arm, double gain);

  /// Whether it is one of those that were set last.
  bool knows(const std::string& arm) const;
  bool all_gone() const;
  const std::vector<ArmRecord>& arms() const { return arms_; }

 private:
  ArmRecord* find(const std::string& name);
  static void pay(ArmRecord& arm, std::optional<double> usd);
  double price(const ArmRecord& arm) const;

  std::vector<ArmRecord> arms_;
};

}  // namespace kw::evolve
