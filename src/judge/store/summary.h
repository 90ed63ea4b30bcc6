// A run as one row and each candidate as one row, read from the folder: the content of the index.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "store/index.h"

namespace kw::store {

struct CandidateRow {
  std::string id;
  int64_t number = 0;  // in the order of adding
  std::string proposer, origin;
  std::map<std::string, int64_t> tunes;
  std::string verdict, stage, reason;  // "" when not judged
  std::optional<double> microseconds;  // measured
  std::optional<double> estimate_us;   // from counters; never a measurement
  double when = 0;
};

struct RunSummary {
  RunRow run;
  std::vector<CandidateRow> candidates;
};

/// Reads the whole folder. A folder that cannot be read gives a row that says so.
RunSummary summarize(const std::string& folder);
/// The best measurement in a timing.json, in microseconds.
std::optional<double> measured_us(const Json& timing);
/// Changes when the run changes: sizes and times of the two files that every change writes last.
std::string change_mark(const std::string& folder);

}  // namespace kw::store
