// Asks specialists about one module: their prompts, how their answers are parsed, and their common
// opinion. A model that fails, refuses or answers nonsense abstains; that never stops the run.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "llm/config.h"
#include "review/vote.h"
#include "stages/stage_ports.h"

namespace kw::review {

/// The module to review and its reference. Reviewers see shown_module() of the module.
struct Case {
  std::string reference;  // source of what must be computed
  std::string module;
};

/// A reviewing model with its instructions.
struct Specialist {
  Field field = Field::Compile;
  std::string instructions;
  llm::ModelId model;
};

/// The cost of an exchange; not set when unknown.
using Price = std::function<std::optional<double>(const llm::ModelId& id, const llm::Request&,
                                                  const llm::Outcome&)>;

struct AskOptions {
  bool reflect = false;  // ask again, with the first answer in the conversation
  int64_t max_tokens = 8192;
};

/// A vote, and the failure of the model if one prevented it.
struct AskResult {
  Vote vote;
  std::optional<llm::Failure> failure;
};

/// The request for a specialist; public for tests.
llm::Request question(const Specialist& specialist, const Case& one, const AskOptions& options);
AskResult ask(const Specialist& specialist, const Case& one, const AskOptions& options,
              const stages::Answer& answer, const Price& price);

/// The instructions that are built into this program.
std::string shipped_instructions(Field field);
/// The instructions in a folder (verify_FIELD.txt); missing files are replaced by the shipped ones.
/// Input Errors: no folder, none of the files, a file that is empty or too long.
Result<std::map<Field, std::string>> load_instructions(const std::string& folder);
inline constexpr size_t kMostInstructionBytes = 12'000;
/// "verify_memory.txt".
std::string instruction_file(Field field);

class Reviewers {
 public:
  Reviewers(std::vector<Specialist> specialists, AskOptions options, Policy policy, Price price);

  /// Asks all specialists in parallel; calls `answer` from several threads at once. A lasting
  /// failure (no money, no key, unknown model) stops all further questions. So do three modules in
  /// a row for which all specialists failed. May be called for several modules at once.
  Opinion look(const Case& one, const stages::Answer& answer);
  /// Why no model is asked any more; "": models are still asked.
  std::string why_stopped() const;

 private:
  void note_failures(const std::vector<AskResult>& asked);
  const std::vector<Specialist> specialists_;
  const AskOptions options_;
  const Policy policy_;
  const Price price_;
  mutable std::mutex mutex_;
  std::string silenced_;
  int failed_ = 0;  // modules in a row for which all specialists failed
};

}  // namespace kw::review
