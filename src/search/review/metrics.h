// How good opinions are against what the judge found: a confusion, and what follows from it. What
// is looked for is faults: "wrong" is the positive class.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"
#include "review/vote.h"

namespace kw::review {

struct Confusion {
  int64_t caught = 0;        // wrong, and called so
  int64_t missed = 0;        // wrong, and called right
  int64_t cleared = 0;       // right, and called so
  int64_t slandered = 0;     // right, and called wrong
  int64_t careful = 0;       // of these, those with defensive code
  int64_t silent_wrong = 0;  // nobody voted on a wrong one
  int64_t silent_right = 0;  // … on a right one

  void add(bool right, bool defensive, Call call);
  Confusion& operator+=(const Confusion& other);

  int64_t wrong() const { return caught + missed + silent_wrong; }
  int64_t right() const { return cleared + slandered + silent_right; }
  int64_t all() const { return wrong() + right(); }
  int64_t silent() const { return silent_wrong + silent_right; }

  /// All of them are 0 where they mean nothing. Silence is no hit: neither for accuracy nor for
  /// recall.
  double accuracy() const;
  double precision() const;
  double recall() const;
  double f1() const;
  /// F1 where calling careful code wrong counts double: what prompts are bred for.
  double fitness() const;
};
Json to_json(const Confusion& confusion);
/// The way back.
Confusion confusion_from_json(const Json& json);

/// "accuracy 0.81, precision …, recall …, F1 … (caught 12, missed 3, …)".
std::string confusion_text(const Confusion& confusion);

/// One line of a table: who voted, on what, and how that went.
struct MetricRow {
  std::string who, where;
  Confusion confusion;
  double usd = 0;
  double seconds = 0;
};
/// Aligned columns under a heading, for terminals and for reports.
std::string metrics_table(const std::vector<MetricRow>& rows);

}  // namespace kw::review
