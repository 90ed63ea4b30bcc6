// Specialists asked about one module: what they are told, how their answers are read, and what the
// panel makes of them. A model that fails, refuses or talks nonsense abstains; it never stops
// anything.
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
#include "stages/ports.h"

namespace kw::review {

/// What is judged, as it came; readers see shown_module() of it.
struct Case {
  std::string reference;  // source of what must be computed
  std::string module;
};

/// Who is asked, and what that one is told to do.
struct Specialist {
  Field field = Field::Compile;
  std::string instructions;
  llm::ModelId model;
};

/// What an exchange cost; nothing where that is not known.
using Price = std::function<std::optional<double>(const llm::ModelId& id, const llm::Request&,
                                                  const llm::Outcome&)>;

struct AskOptions {
  bool reflect = false;  // ask once more, with the first answer in sight
  int64_t max_tokens = 8192;
};

/// A vote, and what kept it from being given, if that was no fault of the answer's.
struct Asked {
  Vote vote;
  std::optional<llm::Failure> failure;
};

/// The request that a specialist gets; also what tests look at.
llm::Request question(const Specialist& specialist, const Case& one, const AskOptions& options);
Asked ask(const Specialist& specialist, const Case& one, const AskOptions& options,
          const stages::Answer& answer, const Price& price);

/// The instructions that come with this program.
std::string shipped_instructions(Field field);
/// Those of a folder (verify_FIELD.txt) over the shipped ones. Input Errors: no folder, none of the
/// files in it, one that is empty or too long.
Result<std::map<Field, std::string>> load_instructions(const std::string& folder);
inline constexpr size_t kMostInstructionBytes = 12'000;
/// "verify_memory.txt".
std::string instruction_file(Field field);

class Panel {
 public:
  Panel(std::vector<Specialist> specialists, AskOptions options, Policy policy, Price price);

  /// Everyone is asked at the same time, `answer` from several threads at once. After a failure
  /// that will not pass (no money, no key, no such model) nobody is asked any more, nor when all of
  /// them failed at three modules in a row, whatever the client did about it. Several modules may
  /// be looked at at the same time.
  Opinion look(const Case& one, const stages::Answer& answer);
  /// Why nobody is asked any more; "" while they are.
  std::string silenced() const;

 private:
  void note_failures(const std::vector<Asked>& asked);
  const std::vector<Specialist> specialists_;
  const AskOptions options_;
  const Policy policy_;
  const Price price_;
  mutable std::mutex mutex_;
  std::string silenced_;
  int failed_ = 0;  // modules in a row that nobody could be asked about
};

}  // namespace kw::review
