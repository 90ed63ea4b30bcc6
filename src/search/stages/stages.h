// The stages that write kernels: codegen, correctness, performance, polish. Each asks a model,
// gives the answers to the judge and reports the findings to the model until its budget is spent.
// The interview (interview.h) comes before, certification after.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "stages/answer_source.h"
#include "stages/stage_plan.h"
#include "stages/stage_ports.h"

namespace kw::stages {

/// The facts that every conversation begins with.
struct StageInput {
  std::string name;                           // of the task
  std::string reference;                      // source of the reference
  std::string prompt;                         // the user's text; may be empty
  std::string spec;                           // KernelSpec as JSON
  std::string interface;                      // the plan lines that every module of this task has
  std::string target;                         // numbers of the GPU
  std::optional<record::Candidate> built_in;  // the best module without a model
  double built_in_us = 0;                     // 0: unknown
  double goal = 0.95;                         // the share of the floor that is good enough
  double floor_us = 0;                        // 0: unknown
};

/// What an earlier session of this run found; empty for a new run.
struct StageProgress {
  std::vector<Attempt> attempts;
  std::optional<record::Candidate> right;  // passed the gate; the fastest of those
  double us = 0;                           // time of `right`
  std::optional<record::Candidate> wrong;  // compiles but is wrong; the last of those
};

struct Ports {
  ports::Judge* judge = nullptr;
  Journal* journal = nullptr;
  Answer answer;
  /// A candidate of earlier sessions or of the built-in proposer, by the beginning of its id.
  std::function<std::optional<record::Candidate>(const std::string& id)> known;
  std::function<void(const std::string& stage, const std::string& detail)> report_progress;
};

/// The result of one stage.
struct StageOutcome {
  Stage stage = Stage::Codegen;
  bool succeeded = false;
  std::string reason;  // why it failed
  double seconds = 0;
};

/// The result of codegen, correctness and performance.
struct StageHistory {
  std::optional<record::Candidate> best;  // passed the gate; by a model or the built-in proposer
  double us = 0;
  bool measured = false;
  std::vector<StageOutcome> stages;
  std::optional<llm::Failure> provider;  // the failure that ended the stages early
  std::vector<std::string> notes;        // for the report

  const StageOutcome* failed() const;  // the first stage that failed; nullptr: none
};

class Stages {
 public:
  Stages(ModelPlan plan, StageInput input, Ports ports, StageProgress progress = {});
  ~Stages();

  /// Errors are those of the machine and "interrupted". The judge keeps what was found before an
  /// Error.
  Result<StageHistory> write();
  /// The module with comments by the model that explain it. Not set when the model gave none; `why`
  /// then has the reason. `facts` is what the comments may state.
  Result<std::optional<record::Candidate>> polish(const record::Candidate& winner,
                                                  const std::string& facts, std::string* why);
  const std::vector<Attempt>& attempts() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// The attempts so far, one line each, as context for a later model.
std::string history_text(const std::vector<Attempt>& attempts);

/// Removes comments that state times, rates or speedups: only kernelwright measures them.
std::string without_claims(const std::string& module);
/// Adds `lines` as comments after the plan lines at the beginning of a module.
std::string with_header(const std::string& module, const std::vector<std::string>& lines);

}  // namespace kw::stages
