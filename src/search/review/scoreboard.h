// Compares reviewers' opinions with the judge's later verdicts, per specialist and for all
// together. It shows what the reviewers of a run are worth.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "record/verdict.h"
#include "review/metrics.h"
#include "review/vote.h"

namespace kw::review {

/// The final verdict on a candidate.
struct FinalVerdict {
  bool right = false;
  std::string stage;  // the stage that a wrong candidate failed
};
/// From a stored verdict; not set when it is neither right nor wrong.
std::optional<FinalVerdict> final_verdict_of(const Json& verdict);

class Scoreboard {
 public:
  void opinion(const std::string& id, Opinion opinion);
  void judged(const std::string& id, const FinalVerdict& outcome);

  /// One row per specialist and one for all together; only judged candidates count.
  std::vector<MetricRow> rows() const;
  /// The number of opinions, and of those whose candidate was never judged.
  size_t opinions() const { return opinions_.size(); }
  size_t open() const;
  /// Rows and counts.
  Json json() const;

 private:
  std::map<std::string, Opinion> opinions_;
  std::map<std::string, FinalVerdict> verdicts_;
};

/// The result of Scoreboard::json() as a table; "" when no model was asked.
std::string scoreboard_text(const Json& board);

}  // namespace kw::review
