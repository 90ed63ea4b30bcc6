// How well votes agree with the judge: a confusion matrix and its measures. "Wrong" is the positive
// class, because reviewers search for faults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "review/vote.h"

namespace kw::review {

struct Confusion {
  int64_t caught = 0;        // wrong, and called wrong
  int64_t missed = 0;        // wrong, and called right
  int64_t cleared = 0;       // right, and called right
  int64_t false_alarms = 0;  // right, and called wrong
  int64_t careful = 0;       // those of the false alarms with defensive code
  int64_t silent_wrong = 0;  // wrong, without a vote
  int64_t silent_right = 0;  // right, without a vote

  void add(bool right, bool defensive, ReviewCall call);
  Confusion& operator+=(const Confusion& other);

  int64_t wrong() const { return caught + missed + silent_wrong; }
  int64_t right() const { return cleared + false_alarms + silent_right; }
  int64_t all() const { return wrong() + right(); }
  int64_t silent() const { return silent_wrong + silent_right; }

  /// All are 0 when undefined. An abstention counts as a miss for accuracy and recall.
  double accuracy() const;
  double precision() const;
  double recall() const;
  double f1() const;
  /// F1 in which defensive code called wrong counts double; prompts are selected by it.
  double fitness() const;
};
Json to_json(const Confusion& confusion);
/// The inverse.
Confusion confusion_from_json(const Json& json);

/// "accuracy 0.81, precision …, recall …, F1 … (12 of 15 faults caught, …)".
std::string confusion_text(const Confusion& confusion);

/// One line of a table: the verifier, the entries and the result.
struct MetricRow {
  std::string who, where;
  Confusion confusion;
  double usd = 0;
  double seconds = 0;
};
/// Aligned columns under a heading, for terminals and for reports.
std::string metrics_table(const std::vector<MetricRow>& rows);

}  // namespace kw::review
