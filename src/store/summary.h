// A run in one row and its candidates in one row each, read from the folder. Internal to store:
// what the index holds.
#pragma once

#include <string>
#include <vector>

#include "store/index.h"

namespace kw::store {

struct CandidateRow {
  std::string id;
  int64_t number = 0;  // in the order of adding
  std::string proposer, origin;
  std::string verdict, stage, reason;  // "" while not judged
  std::optional<double> microseconds;
  double when = 0;
};

struct RunSummary {
  RunRow run;
  std::vector<CandidateRow> candidates;
};

/// Reads all of it; a folder that cannot be read gives a row that says so.
RunSummary summarize(const std::string& folder);
/// Changes whenever the run does: sizes and times of the two files that every change ends in.
std::string change_mark(const std::string& folder);

}  // namespace kw::store
