// Where a run keeps what happened. The run folder (store/run.h) implements both ports. Searches,
// stages and the judge write through them, so they run without a folder in tests.
#pragma once

#include <string>

#include "core/json.h"
#include "core/result.h"
#include "record/candidate.h"

namespace kw::ports {

/// An Error comes from the disk. What was stored before stays.
class Journal {
 public:
  virtual ~Journal();
  /// Stores the candidate's text. Called before any event that names it.
  virtual Status keep(const record::Candidate& candidate) = 0;
  /// After it returns, the event survives a crash.
  virtual Status append(const std::string& kind, const Json& event) = 0;
  /// Stores a text beside the records, at a path like
  /// "stage2_codegen/attempt_01/llm_response.md". Losing it loses no verdict.
  virtual Status write(const std::string& path, const std::string& text) = 0;
  /// Makes the files of a candidate visible under `folder`.
  virtual Status show(const std::string& folder, const std::string& id) = 0;
};

/// A journal that also keeps the judge's results about each candidate, as documents.
class Records : public Journal {
 public:
  virtual Status compiled(const std::string& id, const std::string& log) = 0;
  /// After this returns, only a disk failure can lose the verdict.
  virtual Status judged(const std::string& id, const Json& verdict) = 0;
  /// Members of earlier timings that this one lacks are kept, so a later measurement adds to the
  /// first.
  virtual Status timed(const std::string& id, const Json& timing) = 0;
  virtual Status profiled(const std::string& id, const Json& profile) = 0;  // in the same way
  /// The path of a kept candidate's module, for commands that the user can repeat.
  virtual std::string module_path(const std::string& id) const = 0;
};

}  // namespace kw::ports
