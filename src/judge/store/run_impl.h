// The state of a Run, shared by the sources that create, write and read one. Internal to store.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "os/lock.h"
#include "store/event_log.h"
#include "store/layout.h"
#include "store/run.h"

namespace kw::store {

/// run.json makes a folder a run. It is written last at creation.
struct Manifest {
  std::string id, name, created;
  std::map<std::string, std::string> input_hashes;  // by file name
};

Json to_json(const Manifest& manifest);
/// Input Error when there is none or its version is unknown.
Result<Manifest> read_manifest(const Layout& at);
/// Whether the folder has only a lock and inputs: an unfinished creation. It can be reused or
/// removed.
bool is_abandoned_creation(const std::string& folder);
/// Whether a folder is a run or the rest of one. Other folders are never listed or removed.
bool is_run_folder(const std::string& folder);
/// Reads a file of the run by its full path. A link that leads out of the folder is refused.
Result<std::string> read_kept(const Layout& at, const std::string& path);
/// A JSON file of the run; null when it is missing or unreadable.
Json read_json(const Layout& at, const std::string& path);
/// The events of the run; empty when the file is missing.
EventLog read_events(const Layout& at);
std::string json_text(const Json& json);
/// run_status() of a run that no process holds.
std::string status_of(const Json& report);

/// The results whose bytes an event records.
inline constexpr const char* kVerdictFile = "verdict.json";
inline constexpr const char* kTimingFile = "timing.json";

/// What the last event about a result says of its file.
struct Recorded {
  std::string hash;     // of the file's bytes; "" in runs of older versions
  std::string verdict;  // the word; only of verdict.json
};

/// By candidate id and file name.
using RecordedResults = std::map<std::pair<std::string, std::string>, Recorded>;
RecordedResults recorded_in(const EventLog& log);

struct Run::Impl {
  Impl(Layout layout, os::Disk& used) : at(std::move(layout)), disk(used) {}

  Layout at;
  os::Disk& disk;
  std::optional<os::FileLock> lock;  // not set: opened for reading
  Manifest manifest;
  std::chrono::steady_clock::time_point opened = std::chrono::steady_clock::now();
  double seconds_before = 0;  // worked on by earlier sessions

  mutable std::mutex mutex;                // guards the members below and appending to the events
  std::map<std::string, int64_t> numbers;  // candidate id -> its number in the order of adding
  int64_t next_number = 1;
  std::set<std::string> judged;
  RecordedResults recorded;
  bool lost_events = false;  // there are candidates, and there was no event
  int sessions = 0, closed = 0;

  double seconds() const;
  /// Reads the state from the folder.
  void scan();
  /// Removes temporary files and the torn end of the events.
  Status repair(Json* found);
  /// Reserves disk space for a report, or releases it. Errors are ignored: a full disk fails later
  /// writes.
  void keep_reserve();
  void free_reserve();
  /// What is wrong with a result: "is missing", "was changed", …; "" when it is what its event
  /// records. The caller holds the mutex.
  std::string wrong_with(const std::string& id, const char* name) const;
  /// The caller holds the mutex.
  Status append(const std::string& kind, Json data);
  Status write_of_candidate(const std::string& id, const char* name, std::string_view bytes,
                            os::Sync sync);
  /// Sets these members in the JSON object that the file has, and returns its new text. The caller
  /// holds the mutex.
  Result<std::string> merge_of_candidate(const std::string& id, const char* name,
                                         const Json& members, os::Sync sync);
};

}  // namespace kw::store
