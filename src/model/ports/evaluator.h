// What a search sees of a judge. With a canned one a whole search runs in milliseconds.
#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "record/candidate.h"

namespace kw::ports {

/// What one look at a candidate gave: a time, or why it is out. One of the two is set.
struct Look {
  double us = 0;
  std::string refused;
  bool at_least = false;  // `us` is only a lower limit
};
using Candidates = std::vector<record::Candidate>;

/// Answers are parallel to the candidates. Errors are the machine's, never a candidate's.
class Evaluator {
 public:
  virtual ~Evaluator();
  /// Whether there is a clock; without one only screen() and certify() are called.
  virtual bool measures() const = 0;
  /// Cheap: compiles, counts, estimates.
  virtual Result<std::vector<Look>> screen(const Candidates& candidates) = 0;
  /// The gate, then a quick timing of each.
  virtual Result<std::vector<Look>> measure(const Candidates& candidates) = 0;
  /// All on the clock together, interleaved; `effort` (1, 2, …) says how many samples are worth it.
  virtual Result<std::vector<Look>> pair(const Candidates& candidates, int effort) = 0;
  /// The full gate with fresh inputs, and where there is a clock the full timing.
  virtual Result<Look> certify(const record::Candidate& candidate) = 0;
};

}  // namespace kw::ports
