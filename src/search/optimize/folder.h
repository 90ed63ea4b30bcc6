// A run folder: state.json and journal.jsonl, one writer at a time, every file complete or absent.
// docs/optimize.md describes the layout. The contents of the files are not interpreted here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "optimize/optimize_state.h"
#include "os/lock.h"

namespace kw::optimize {

inline constexpr uint64_t kMostFileBytes = uint64_t{64} << 20;
inline constexpr uint64_t kMostKernelBytes = uint64_t{1} << 20;

class Folder {
 public:
  /// Creates the folder of a new run and locks it. It is a run only after commit().
  static Result<Folder> create(const std::string& path);
  /// Locks an existing run. Completes a write that was interrupted between journal and state. Input
  /// Error: not a run, locked by another process, another version, edited by hand, damaged.
  static Result<Folder> open(const std::string& path);
  /// Reads only the state, without the lock.
  static Result<State> look(const std::string& path);
  /// Writes the last state of the journal to state.json again.
  static Result<State> restore(const std::string& path);

  State state;

  const std::string& path() const { return path_; }
  /// The path of a file of the run.
  std::string at(std::string_view name) const { return path_ + "/" + std::string(name); }
  /// "iterv2/kernel.cu".
  static std::string in_iteration(int iteration, std::string_view name);

  bool has(std::string_view name) const;
  Result<std::string> read(std::string_view name, uint64_t limit = kMostFileBytes) const;
  Result<Json> read_json(std::string_view name) const;
  Status write(std::string_view name, std::string_view text) const;
  Status write_json(std::string_view name, const Json& json) const;
  Status remove(std::string_view name) const;

  /// Writes a file that later steps depend on, so that a later edit is detected.
  Status write_stamped(const std::string& name, std::string_view text);
  /// Reads such a file. Input Error when it was changed.
  Result<std::string> read_stamped(const std::string& name) const;

  /// Writes the journal, then state.json. After this the step is done.
  Status commit(std::string_view step, Json note = Json::object());

 private:
  explicit Folder(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::optional<os::FileLock> lock_;
};

/// "2026-11-15T09:12:44Z".
std::string utc_now();
/// Makes the folder "run_20261115_091244" in `parent`, with a number appended if it exists. Of
/// several processes each gets its own.
Result<std::string> make_run_folder(const std::string& parent);

}  // namespace kw::optimize
