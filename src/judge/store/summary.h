// A run as one row and each candidate as one row, read from the folder: the content of the index.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "record/verdict.h"
#include "store/index.h"
#include "store/run.h"

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
  int64_t judge = record::kJudgeVersion;  // the version of the judge that gave the verdict

  bool has_old_verdict() const { return !verdict.empty() && judge < record::kJudgeVersion; }
};

struct RunSummary {
  RunRow run;
  std::vector<CandidateRow> candidates;
};

/// Reads the whole folder. A folder that cannot be read gives a row that says so.
RunSummary summarize(const std::string& folder);
RunSummary summarize(const Run& run);
/// The version of the judge that gave a stored verdict. Verdicts before version 2 do not name it.
int64_t judge_version(const Json& verdict);
/// The best measurement in a timing.json, in microseconds.
std::optional<double> measured_us(const Json& timing);
/// Changes when the run changes: sizes and times of the two files that every change writes last.
std::string change_mark(const std::string& folder);

}  // namespace kw::store
