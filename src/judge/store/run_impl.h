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
/// events.jsonl and who wrote it.
struct EventFile {
  explicit EventFile(Chain before) : chain(std::move(before)) {}

  EventLog log;  // empty when the file is missing
  Chain chain;   // ready for the next line
  signing::Digest digest;
  int64_t lost_signed_bytes = 0;      // that a signature covers, and the file does not have
  std::vector<std::string> findings;  // where a signature and the file do not agree
};
/// `signer` may be null.
EventFile read_journal(const Layout& at, const signing::Signer* signer);
/// The user's key, if there is one.
std::optional<signing::Signer> own_signer(signing::IfMissing missing);
std::string json_text(const Json& json);
/// run_status() of a run that no process holds.
std::string status_of(const Json& report);

/// The results whose bytes an event records.
inline constexpr const char* kVerdictFile = "verdict.json";
inline constexpr const char* kTimingFile = "timing.json";
inline constexpr const char* kReportFile = "report.json";  // of no candidate: its id is ""

/// What the last event about a result says of its file.
struct Recorded {
  std::string hash;       // of the file's bytes; "" in runs of older versions
  std::string verdict;    // the word; only of verdict.json
  std::string module;     // of the candidate's text, which the verdict is about; "" in older runs
  std::string next = "";  // of bytes that were about to replace the file's
  Proof proof = Proof::Other;
  bool certain = true;  // no event was lost after it
};

inline constexpr const char* kChanged = "was changed";

/// What a result is worth.
struct Standing {
  std::string wrong;    // "is missing", "was changed", …; "" when it is what its event records
  bool counts = true;   // false also for a file whose event is missing after a kill
  bool certain = true;  // no event was lost after it
  bool vouched = true;  // this user's key marked its event

  bool altered() const { return !wrong.empty() || !certain; }
};

/// By candidate id and file name.
using RecordedResults = std::map<std::pair<std::string, std::string>, Recorded>;
RecordedResults recorded_in(const EventLog& log);

struct Run::Impl {
  Impl(Layout layout, os::Disk& used) : at(std::move(layout)), disk(used) {}

  Layout at;
  os::Disk& disk;
  std::optional<signing::Signer> signer;  // not set: nothing is signed
  std::optional<os::FileLock> lock;       // not set: opened for reading
  Manifest manifest;
  std::chrono::steady_clock::time_point opened = std::chrono::steady_clock::now();
  double seconds_before = 0;  // worked on by earlier sessions

  mutable std::mutex mutex;                // guards the members below and appending to the events
  std::map<std::string, int64_t> numbers;  // candidate id -> its number in the order of adding
  int64_t next_number = 1;
  std::set<std::string> judged;
  RecordedResults recorded;
  std::optional<EventFile> journal;   // as far as it is written; not set when a write failed
  std::vector<std::string> findings;  // of the signature, when the run was opened
  std::set<std::string> other_keys;
  mutable std::map<std::pair<std::string, std::string>, Standing> standings;  // known ones
  std::map<std::string, std::string> modules;  // digests of the texts, by id
  int64_t lost_signed_bytes = 0;
  int unsigned_events = 0, moved_aside = 0;
  bool own_events = false;   // this user's key marked some
  bool lost_events = false;  // there are candidates, and there was no event
  int sessions = 0, closed = 0;

  double seconds() const;
  /// The data of an event "opened", with the key of the session.
  Json session_data(Json found) const;
  /// Reads the state from the folder.
  void scan();
  /// Removes temporary files and the torn end of the events.
  Status repair(Json* found);
  /// Reserves disk space for a report, or releases it. Errors are ignored: a full disk fails later
  /// writes.
  void keep_reserve();
  void free_reserve();
  /// Whether a result is what its event records. The caller holds the mutex.
  const Standing& standing(const std::string& id, const char* name) const;
  Standing examine(const std::string& id, const char* name) const;
  bool is_altered(const std::string& id) const;
  /// The result; null when there is none, or it does not count. Takes the mutex.
  Json result(const std::string& id, const char* name) const;
  /// The digest of a candidate's text; "" when it cannot be read.
  std::string module_digest(const std::string& id) const;
  /// Before a recorded file is replaced: a kill between the file and its event must not look like
  /// an edit. The caller holds the mutex.
  void announce(const std::string& id, const char* name, const std::string& hash);
  /// After its event was written. The caller holds the mutex.
  void note(const std::pair<std::string, std::string>& file, Recorded record);
  /// The caller holds the mutex.
  Status append(const std::string& kind, Json data);
  Status append_event(const record::Event& event);
  /// Signs the events so far. A failure is ignored: the marks still hold, and the next one signs.
  void sign();
  Status write_of_candidate(const std::string& id, const char* name, std::string_view bytes,
                            os::Sync sync);
  /// Sets these members in the JSON object that the file has, and returns its new text. The caller
  /// holds the mutex.
  Result<std::string> merge_of_candidate(const std::string& id, const char* name,
                                         const Json& members, os::Sync sync);
};

}  // namespace kw::store
