// Opinions held against what the judge found later, per specialist and for the panel: how much a
// run's verifiers are worth. Verdicts come from the judge alone.
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

/// What became of a candidate in the end.
struct Fate {
  bool right = false;
  std::string stage;  // that a wrong one did not pass
};
/// Of a verdict as it is kept; nothing where it says neither.
std::optional<Fate> fate_of(const Json& verdict);

class Scoreboard {
 public:
  void opinion(const std::string& id, Opinion opinion);
  void judged(const std::string& id, const Fate& fate);

  /// One row per specialist, one for the panel; only candidates that were judged count.
  std::vector<MetricRow> rows() const;
  /// Opinions, and those among them whose candidate was never judged.
  size_t opinions() const { return opinions_.size(); }
  size_t open() const;
  /// Rows and counts.
  Json json() const;

 private:
  std::map<std::string, Opinion> opinions_;
  std::map<std::string, Fate> fates_;
};

/// The table of what Scoreboard::json() gave; "" when nobody was asked.
std::string scoreboard_text(const Json& board);

}  // namespace kw::review
