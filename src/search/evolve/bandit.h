// Chooses the next model or operator to ask: upper confidence bounds over gain per dollar. An arm
// that fails pauses, and after repeated failures it is removed. It counts requests, not seconds, so
// that the same history gives the same choice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "evolve/evolve_ports.h"

namespace kw::evolve {

/// The statistics of one arm.
struct ArmRecord {
  std::string name;
  int64_t pulls = 0, in_flight = 0;
  int64_t answered = 0, right = 0,
          better = 0;      // pulls with a candidate; with one that passed; with a gain
  double gain = 0;         // sum; 0.1 is about 10 % faster
  double usd = 0;          // sum of the known costs
  int64_t unpriced = 0;    // pulls of unknown cost
  int64_t free = 0;        // failures without cost; not used for the price of an answer
  int64_t failures = 0;    // in a row
  int64_t wait_until = 0;  // request number
  std::string gone;        // why it is no longer asked; "": it is asked
};
Json to_json(const ArmRecord& arm);

class Bandit {
 public:
  /// Known arms keep their statistics; arms that are not in `names` are no longer asked.
  void set_arms(const std::vector<std::string>& names);

  /// Not set when no arm is left. `now` is the number of the request to be sent.
  std::optional<std::string> choose(int64_t now) const;
  void begin(const std::string& arm);
  /// An answer with or without a candidate. reward() adds the gain later.
  void answered(const std::string& arm, bool candidate, std::optional<double> usd);
  /// The arm gave no answer, but may have cost money. A call that the budget refused does not count
  /// as asked.
  void failed(const std::string& arm, ModelFailure failure, const std::string& why, int64_t now,
              std::optional<double> usd);
  /// A candidate of this arm passed; `gain` over the best before it, 0 or more.
  void reward(const std::string& arm, double gain);

  /// Whether the arm is one of those set last.
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
