// One run as a folder: what was asked, every candidate with what became of it, what happened, what
// came out. The folder is the truth and survives kill -9 at any point (docs/run-folder.md); index.h
// only finds runs quickly. Meaning is not decided here: verdicts, timings and reports are JSON of
// their makers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "os/disk.h"
#include "record/candidate.h"
#include "record/event.h"

namespace kw::store {

/// What was asked; never changes after creation.
struct RunInputs {
  std::string name;  // of the task, for people: "rms_norm"
  std::string prompt, reference;
  Json spec, config, env;
};

/// Where a run goes: a folder of its own under a root of many, or exactly here when `folder` is
/// given.
struct Where {
  std::string root;
  std::string folder;
};

/// What ships. Empty ones are not written.
struct FinalFiles {
  std::string kernel_cu, kernel_ptx, kernel_cubin, readme;
};

enum class Access : uint8_t { Write, Read };  // Write takes the lock and mends what a crash left

/// All methods may be called from several threads. An Error of a writing method is the disk's
/// (full, gone): what was stored before it stays.
class Run {
 public:
  /// A new folder with its inputs. Input Error when `where.folder` holds something already.
  static Result<Run> create(const Where& where, const RunInputs& inputs,
                            os::Disk& disk = os::real_disk());
  /// An existing one. Input Error when it is none, is damaged beyond use, or (Write) belongs to a
  /// living process, which is named.
  static Result<Run> open(const std::string& folder, Access access,
                          os::Disk& disk = os::real_disk());
  Run(Run&&) noexcept;
  Run& operator=(Run&&) noexcept;
  ~Run();

  const std::string& id() const;
  const std::string& folder() const;
  const std::string& created() const;  // "2026-11-15T09:12:44Z"
  /// Seconds this run has been worked on, over all sessions; what `Event::seconds` counts in.
  double seconds() const;

  /// Keeps a candidate under its content's name. False when it was there already (the first lineage
  /// stays). `when` is filled in when it is 0. Appends an event "added".
  Result<bool> add(record::Candidate candidate);
  Status compiled(const std::string& id, const std::string& log);
  /// Once this returned, the verdict survives anything but the disk's death. Appends "judged" with
  /// the verdict's "verdict".
  Status judged(const std::string& id, const Json& verdict);
  /// Raw samples and all. Members that earlier timings of this candidate had and this one has not
  /// are kept, so that a better measurement adds to the first look. Appends "timed".
  Status timed(const std::string& id, const Json& timing);
  Status profiled(const std::string& id, const Json& profile);  // members are kept in the same way
  Status event(const record::Event& event);
  /// The same with the present time.
  Status event(const std::string& kind, Json data);
  /// A text beside the records, at a path like "stage2_codegen/attempt_01/llm_response.md": what
  /// was said on the way to a candidate. Losing one loses nothing that was judged.
  Status transcript(const std::string& path, std::string_view text);
  /// Shows a candidate's files under `path` as links: kernel.cu, compile.log, result.json,
  /// timing.json as far as they are there; "final" shows what ships.
  Status view(const std::string& path, const std::string& id);
  /// Replaces what a later session continues from.
  Status checkpoint(const Json& state);
  /// final/ and then report.json; may be called again by a later session. A "storage" member is
  /// added to the report: sessions, how many of them were cut short, hashes of the final files. A
  /// report with "interrupted": true marks a run that can be resumed. When final/ cannot be written
  /// (that is the Error), the report says so instead of what it said, in room kept for it.
  Status finish(Json report, const FinalFiles& files);

  Result<RunInputs> inputs() const;
  /// In the order of adding; damaged ones are left out (see damage()).
  std::vector<record::Candidate> candidates() const;
  Result<record::Candidate> candidate(const std::string& id) const;
  bool contains(const std::string& id) const;
  /// Null when there is none (or none that can be read).
  Json judgement(const std::string& id) const;
  Json timing(const std::string& id) const;
  Json profile(const std::string& id) const;
  Json checkpoint() const;
  Json report() const;
  std::string compile_log(const std::string& id) const;
  std::vector<record::Event> events() const;

  /// Every file that is not what was written, in words; looks at all of them.
  std::vector<std::string> damage() const;
  /// Sessions that ended without closing the run: killed, crashed, power cut.
  int crashes() const;

 private:
  struct Impl;
  explicit Run(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// "passed", "failed" (a report says so), "interrupted" (to be resumed), "running" (a living
/// process holds it).
std::string run_status(const std::string& folder);

/// $KERNELWRIGHT_RUNS, else $XDG_DATA_HOME/kernelwright/runs, else
/// ~/.local/share/kernelwright/runs.
std::string default_root();

}  // namespace kw::store
