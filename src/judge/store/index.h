// An SQLite index over the runs of a root, to list and search them without opening thousands of
// files. It is a cache: every row can be made again from the folders, and a bad file is rebuilt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace kw::store {

/// One run as the index stores it.
struct RunRow {
  std::string id, folder, name, created;  // in lists the id is the folder's name
  std::string status;  // as from run_status(); "damaged" when the folder cannot be read
  std::string proposer, target, reason;
  int64_t candidates = 0, judged = 0, passed = 0;
  double seconds = 0;                 // time worked on it
  std::optional<double> best_us;      // measured, of the fastest that passed
  std::optional<double> estimate_us;  // the same from counters; never a measurement
  std::optional<double> speedup;      // over the reference, when measured
  int64_t bytes = 0;                  // on disk
};

/// All runs under a root, oldest first. Rows of changed folders are read again. If the index cannot
/// be written, all folders are read.
Result<std::vector<RunRow>> list_runs(const std::string& root);

/// One line for each thing in the index that is not what the folders say. A row that is only out of
/// date is not a fault: list_runs() reads its folder again.
std::vector<std::string> index_faults(const std::string& root);
/// Deletes the index and makes it again.
Status rebuild_index(const std::string& root);

/// A text about a run, in the index beside it. It is there until the run changes, and only if this
/// user's key marked it.
std::optional<std::string> kept_note(const std::string& folder);
/// `mark`: change_mark() before the run was read. A failure is ignored.
void keep_note(const std::string& folder, const std::string& mark, const std::string& text);
/// The hash under which the store records a file's content.
std::string content_hash(std::string_view bytes);

/// Creates the index of a root if there is none. A failure is ignored.
void make_index(const std::string& root);
/// Writes a run's present state to the index beside it, if there is one. A failure is ignored:
/// list_runs() reads the folder again.
void update_index_of(const std::string& folder);

}  // namespace kw::store
