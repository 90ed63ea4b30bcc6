// What the stages see of the world: a bench that looks at candidates, a journal that keeps what was
// said, and someone who answers. With scripted ones a whole run of the stages takes milliseconds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "llm/config.h"
#include "llm/reply.h"
#include "record/candidate.h"

namespace kw::stages {

/// What looking at a candidate gave.
struct Look {
  bool ok = false;
  std::string reason;  // why not, in one line
  std::string text;    // all there is to say about it, for the model
  double us = 0;       // of time(); 0: unknown
  bool measured = false;
};

/// Everything it looks at is kept. Errors are the machine's, never a candidate's.
class Workbench {
 public:
  virtual ~Workbench();
  /// Parses it and compiles it for the timed shape.
  virtual Result<Look> compile(const record::Candidate& candidate) = 0;
  /// Also runs it on the virtual GPU at a small shape, under all checks.
  virtual Result<Look> run(const record::Candidate& candidate) = 0;
  /// The gate, the timed shape included.
  virtual Result<Look> verify(const record::Candidate& candidate) = 0;
  /// Only for what verify() passed: measured where there is a GPU, else estimated.
  virtual Result<Look> time(const record::Candidate& candidate) = 0;
  /// What limits it and what may help, each number called measured or estimated.
  virtual std::string hints(const record::Candidate& candidate) = 0;
};

/// One try of a stage.
struct Attempt {
  std::string stage;  // "codegen"
  int number = 0;     // within its stage, from 1
  bool escalated = false;
  std::string model;      // "anthropic:claude-sonnet-4-6"
  std::string candidate;  // id; "" when the answer held none
  bool succeeded = false;
  std::string outcome;  // "compiles", "does not compile: …", "right", "wrong: …", "12.3 us", …
  double us = 0;        // 0: not timed
};
Json to_json(const Attempt& attempt);
Attempt attempt_from_json(const Json& json);

/// Keeps what happens, at paths like "stage2_codegen/attempt_01/prompt_to_llm.md".
class Journal {
 public:
  virtual ~Journal();
  virtual Status write(const std::string& path, const std::string& text) = 0;
  /// Shows a candidate's files under `folder`.
  virtual Status show(const std::string& folder, const std::string& candidate_id) = 0;
  virtual Status attempt(const Attempt& attempt) = 0;
  /// One exchange, as it was sent and answered.
  virtual Status exchange(const std::string& label, const llm::Request& request,
                          const llm::Outcome& outcome) = 0;
};

/// One exchange with a model.
using Answer = std::function<llm::Outcome(const llm::ModelId& id, const llm::Request& request)>;

}  // namespace kw::stages
