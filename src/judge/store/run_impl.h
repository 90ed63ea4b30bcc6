// What a Run holds, shared by the sources that create, write and read one. Internal to store.
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

/// run.json: what makes a folder a run. Written last at creation.
struct Manifest {
  std::string id, name, created;
  std::map<std::string, std::string> input_hashes;  // by file name
};

Json to_json(const Manifest& manifest);
/// Input Error when there is none, or none of a version we know.
Result<Manifest> read_manifest(const Layout& at);
/// Whether all there is are a lock and inputs: a creation that was cut, to be taken over or
/// removed.
bool is_abandoned_creation(const std::string& folder);
/// Whether a folder is a run, or what is left of one. Nothing else is ever listed or removed.
bool is_run_folder(const std::string& folder);
/// A file of the run, named by its whole path; one that a link outside of the folder stands for is
/// refused.
Result<std::string> read_kept(const Layout& at, const std::string& path);
/// A JSON file of the run; null when it is missing or unreadable.
Json read_json(const Layout& at, const std::string& path);
/// The events of the run; none when they are missing.
EventLog read_events(const Layout& at);
std::string json_text(const Json& json);
/// run_status() of a run that nobody holds.
std::string status_of(const Json& report);

struct Run::Impl {
  Impl(Layout layout, os::Disk& used) : at(std::move(layout)), disk(used) {}

  Layout at;
  os::Disk& disk;
  std::optional<os::FileLock> lock;  // absent: only read
  Manifest manifest;
  std::chrono::steady_clock::time_point opened = std::chrono::steady_clock::now();
  double seconds_before = 0;  // worked on by earlier sessions

  mutable std::mutex mutex;                // over what follows, and over appending to the events
  std::map<std::string, int64_t> numbers;  // candidate id -> its place in the order of adding
  int64_t next_number = 1;
  std::set<std::string> judged;
  int sessions = 0, closed = 0;

  double seconds() const;
  /// Fills in what the folder holds.
  void scan();
  /// Removes temporary files and the torn end of the events.
  Status mend(Json* found);
  /// Keeps room for a report, or gives it up; a disk that has none to spare is seen soon enough.
  void keep_reserve();
  void free_reserve();
  /// With the mutex held.
  Status append(const std::string& kind, Json data);
  Status write_of_candidate(const std::string& id, const char* name, std::string_view bytes,
                            os::Sync sync);
  /// Sets the members of an object in what is there already. With the mutex held.
  Status merge_of_candidate(const std::string& id, const char* name, const Json& members,
                            os::Sync sync);
};

}  // namespace kw::store
