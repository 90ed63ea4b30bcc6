// An SQLite index over the runs of a root, so that they are listed and searched without opening
// thousands of files. It is a cache: every row can be made again from the folders, and whatever is
// wrong with the file ends in that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"

namespace kw::store {

/// One run as the index knows it.
struct RunRow {
  std::string id, folder, name, created;  // in lists the id is the folder's name
  std::string status;  // as run_status(); "damaged" when the folder cannot be read
  std::string proposer, target, reason;
  int64_t candidates = 0, judged = 0, passed = 0;
  double seconds = 0;                 // worked on
  std::optional<double> best_us;      // measured, of the fastest that passed
  std::optional<double> estimate_us;  // likewise, from counters; never a measurement
  std::optional<double> speedup;      // over the reference, when measured
  int64_t bytes = 0;                  // on disk
};

/// All runs under a root, oldest first. Rows of folders that changed since are read again; where
/// the index cannot be written, all are.
Result<std::vector<RunRow>> list_runs(const std::string& root);

/// Creates the index of a root when there is none. Failing is no harm.
void make_index(const std::string& root);
/// Takes a run's present state into the index beside it, when there is one. Failing is no harm:
/// list_runs() sees it.
void update_index_of(const std::string& folder);

}  // namespace kw::store
