// The stages that write kernels: codegen, correctness, performance, polish. Each asks a model,
// has its answers examined by the judge, and says what was found until a budget is spent. Knows
// nothing of devices, stores or clocks; interview.h comes before, certification after.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "stages/plan.h"
#include "stages/ports.h"
#include "stages/source.h"

namespace kw::stages {

/// What every conversation begins with.
struct Brief {
  std::string name;                           // of the task
  std::string reference;                      // its source
  std::string prompt;                         // what the user wrote; may be empty
  std::string spec;                           // KernelSpec as JSON
  std::string interface;                      // the plan lines every module of this task has
  std::string target;                         // numbers of the GPU
  std::optional<record::Candidate> built_in;  // the best module without a model
  double built_in_us = 0;                     // 0: not known
  double goal = 0.95;                         // of the floor: good enough
  double floor_us = 0;                        // 0: not known
};

/// Where a run of the stages stands: what an earlier session of it found, or nothing.
struct Standing {
  std::vector<Attempt> attempts;
  std::optional<record::Candidate> right;  // passed the gate; the fastest of them
  double us = 0;                           // of it
  std::optional<record::Candidate> wrong;  // compiles, to be repaired; the last of them
};

struct Ports {
  ports::Judge* judge = nullptr;
  Journal* journal = nullptr;
  Answer answer;
  /// A candidate of earlier sessions or of the built-in proposer, by the beginning of its id.
  std::function<std::optional<record::Candidate>(const std::string& id)> known;
  std::function<void(const std::string& stage, const std::string& detail)> tell;
};

/// How one stage went.
struct StageOutcome {
  Stage stage = Stage::Codegen;
  bool succeeded = false;
  std::string reason;  // why not
  double seconds = 0;
};

/// What came of codegen, correctness and performance.
struct Story {
  std::optional<record::Candidate> best;  // right; from a model or the built-in proposer's
  double us = 0;
  bool measured = false;
  std::vector<StageOutcome> stages;
  std::optional<llm::Failure> provider;  // that ended it early
  std::vector<std::string> notes;        // for the report

  const StageOutcome* failed() const;  // the first that did not succeed; nullptr when all did
};

class Stages {
 public:
  Stages(Plan plan, Brief brief, Ports ports, Standing standing = {});
  ~Stages();

  /// Errors are the machine's ("interrupted" too). What was found before one is with the judge.
  Result<Story> write();
  /// The module with comments that explain it, as the model wrote it; nothing when it gave none
  /// (`why` says so). `facts` is what may be said of it.
  Result<std::optional<record::Candidate>> polish(const record::Candidate& winner,
                                                  const std::string& facts, std::string* why);
  /// That ended the last call.
  const std::optional<llm::Failure>& provider_failure() const;
  const std::vector<Attempt>& attempts() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// What was tried so far, a line each: what a model that comes later must know.
std::string history_text(const std::vector<Attempt>& attempts);

/// Comments that state times, rates or speedups taken out: only the engine may, because it
/// measures.
std::string without_claims(const std::string& module);
/// `lines` as comments behind the plan lines a module begins with.
std::string with_header(const std::string& module, const std::vector<std::string>& lines);

}  // namespace kw::stages
