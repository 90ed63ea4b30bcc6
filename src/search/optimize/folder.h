// A run folder: state.json and journal.jsonl, one writer at a time, every file whole or not there.
// The layout is that of docs/optimize.md; what the files say is not known here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "optimize/state.h"
#include "os/lock.h"

namespace kw::optimize {

inline constexpr uint64_t kMostFileBytes = uint64_t{64} << 20;
inline constexpr uint64_t kMostKernelBytes = uint64_t{1} << 20;

class Folder {
 public:
  /// Makes the folder of a new run and holds it. There is no run in it until commit() was called.
  static Result<Folder> create(const std::string& path);
  /// Holds an existing run. A write that was cut between journal and state is completed. Input
  /// Error: no run, held by another process, of another version, edited by hand, damaged.
  static Result<Folder> open(const std::string& path);
  /// The state alone, for reading; nobody is kept out.
  static Result<State> look(const std::string& path);
  /// Writes the state again that the journal has last.
  static Result<State> restore(const std::string& path);

  State state;

  const std::string& path() const { return path_; }
  /// Path of a file of the run.
  std::string at(std::string_view name) const { return path_ + "/" + std::string(name); }
  /// "iterv2/kernel.cu".
  static std::string in_iteration(int iteration, std::string_view name);

  bool has(std::string_view name) const;
  Result<std::string> read(std::string_view name, uint64_t limit = kMostFileBytes) const;
  Result<Json> read_json(std::string_view name) const;
  Status write(std::string_view name, std::string_view text) const;
  Status write_json(std::string_view name, const Json& json) const;
  Status remove(std::string_view name) const;

  /// Writes a file whose content later steps rely on: a change by others will be seen.
  Status write_stamped(const std::string& name, std::string_view text);
  /// Reads such a file. Input Error when it is not what was written.
  Result<std::string> read_stamped(const std::string& name) const;

  /// Journal, then state.json: after this the step has happened.
  Status commit(std::string_view step, Json note = Json::object());

 private:
  explicit Folder(std::string path) : path_(std::move(path)) {}

  std::string path_;
  std::optional<os::FileLock> lock_;
};

/// "2026-11-15T09:12:44Z".
std::string utc_now();
/// "run_20261115_091244" in `parent`, with a number behind it when that is taken.
std::string new_run_path(const std::string& parent);

}  // namespace kw::optimize
