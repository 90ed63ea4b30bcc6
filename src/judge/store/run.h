// One run as a folder: the task, every candidate with its results, the events and the final files.
// The folder is the only record and survives kill -9 at any point (docs/run-folder.md). index.h
// only finds runs quickly. The store does not interpret verdicts, timings and reports: they are
// JSON of other modules.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "os/disk.h"
#include "ports/journal.h"
#include "record/candidate.h"
#include "record/event.h"

namespace kw::store {

/// What the user asked for; never changes after creation.
struct RunInputs {
  std::string name;  // of the task, for the user: "rms_norm"
  std::string prompt, reference;
  Json spec, config, env;
};

/// The place of a run: a new folder under `root`, or exactly `folder` if that is given.
struct Where {
  std::string root;
  std::string folder;
};

/// The files that are shipped. Empty ones are not written.
struct FinalFiles {
  std::string kernel_cu, kernel_ptx, kernel_cubin, readme;
};

enum class Access : uint8_t { Write, Read };  // Write locks and repairs

/// All methods may be called from several threads. An Error of a writing method comes from the disk
/// (full, removed). What was stored before stays.
class Run : public ports::Records {
 public:
  /// Creates a folder with its inputs. Input Error when `where.folder` is not empty.
  static Result<Run> create(const Where& where, const RunInputs& inputs,
                            os::Disk& disk = os::real_disk());
  /// Opens an existing run. Input Error when it is not a run, is too damaged, or (Write) is held by
  /// a running process. The Error names the process.
  static Result<Run> open(const std::string& folder, Access access,
                          os::Disk& disk = os::real_disk());
  Run(Run&&) noexcept;
  Run& operator=(Run&&) noexcept;
  ~Run() override;

  const std::string& id() const;
  const std::string& folder() const;
  /// Seconds worked on this run over all sessions; the unit of `Event::seconds`.
  double seconds() const;

  /// Stores a candidate under the hash of its content. False when it is there already; the first
  /// lineage stays. `when` is set if it is 0. Appends an event "added".
  Result<bool> add(record::Candidate candidate);
  Status keep(const record::Candidate& candidate) override;
  Status compiled(const std::string& id, const std::string& log) override;
  /// Appends "judged" with the verdict's "verdict".
  Status judged(const std::string& id, const Json& verdict) override;
  /// Includes the raw samples. Appends "timed".
  Status timed(const std::string& id, const Json& timing) override;
  Status profiled(const std::string& id, const Json& profile) override;
  std::string module_path(const std::string& id) const override;
  /// Adds an event at the present time.
  Status append(const std::string& kind, const Json& event) override;
  /// The same, and the event also survives a power cut.
  Status append_synced(const std::string& kind, const Json& event);
  Status write(const std::string& path, const std::string& text) override;
  /// Links a candidate's files under `path`: kernel.cu, compile.log, result.json, timing.json,
  /// those that exist. For "final" it links the shipped files.
  Status show(const std::string& path, const std::string& id) override;
  /// Replaces the state from which a later session continues.
  Status checkpoint(const Json& state);
  /// Writes final/ and then report.json. A later session may call it again. Adds a "storage" member
  /// to the report: sessions, interrupted sessions, hashes of the final files. A report with
  /// "interrupted": true marks a run that can be resumed. If final/ cannot be written, this returns
  /// the Error and the report says so instead; space for it is reserved.
  Status finish(Json report, const FinalFiles& files);

  Result<RunInputs> inputs() const;
  /// In the order of adding. Damaged candidates are left out (see damage()).
  std::vector<record::Candidate> candidates() const;
  Result<record::Candidate> candidate(const std::string& id) const;
  bool contains(const std::string& id) const;
  /// Whether the verdict or timing of a candidate is not what the run's events record, or events
  /// were lost that came after them.
  bool is_altered(const std::string& id) const;
  /// Whether this user's key made the records of the candidate's verdict and timing. Others may be
  /// shown, but are judged again before they count.
  bool is_vouched(const std::string& id) const;
  /// Why results of this run are shown and not believed: "it is not signed", "it is signed by
  /// another key (1f2e3d4c5b6a7988)". "" when this user's key signed all of it.
  std::string foreign() const;
  /// Null when there is none, when it cannot be read or when it is altered.
  Json judgement(const std::string& id) const;
  Json timing(const std::string& id) const;
  Json profile(const std::string& id) const;
  Json checkpoint() const;
  Json report() const;
  std::string compile_log(const std::string& id) const;
  std::vector<record::Event> events() const;

  /// Temporary files that a killed process left, and the torn end of the events. The next session
  /// removes them.
  std::vector<std::string> leftovers() const;
  /// Moves verdicts and timings that are not what the run recorded to aside/. Their candidates
  /// count as not judged.
  Status set_altered_aside();
  /// One line for every file that differs from what was written. Reads all files.
  std::vector<std::string> damage() const;
  /// The number of sessions that ended without closing the run: killed, crashed, power cut.
  int crashes() const;

 private:
  struct Impl;
  explicit Run(std::unique_ptr<Impl> impl);
  /// Records that the session ended in order.
  void close();
  std::unique_ptr<Impl> impl_;
};

/// "passed" or "failed" (from the report), "interrupted" (can be resumed), "running" (a process
/// holds it).
std::string run_status(const std::string& folder);
/// Why this user's key cannot be used, so that new records are not signed; "" when it can, or will
/// be made.
std::string key_fault();

/// $KERNELWRIGHT_RUNS, otherwise $XDG_DATA_HOME/kernelwright/runs, otherwise
/// ~/.local/share/kernelwright/runs.
std::string default_root();

}  // namespace kw::store
