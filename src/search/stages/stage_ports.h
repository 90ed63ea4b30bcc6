// The ports of the stages besides the judge (ports/judge.h): a journal that also keeps exchanges,
// and a model. With scripted ones, a whole run of the stages takes milliseconds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "llm/config.h"
#include "llm/reply.h"
#include "ports/journal.h"
#include "ports/judge.h"
#include "record/candidate.h"

namespace kw::stages {

/// One try of a stage.
struct Attempt {
  std::string stage;  // "codegen"
  int number = 0;     // within its stage, from 1
  bool escalated = false;
  std::string model;      // "anthropic:claude-sonnet-4-6"
  std::string candidate;  // id; "": the answer had none
  bool succeeded = false;
  std::string outcome;  // "compiles", "is not right: …", "12.30 us (measured)", …
  double us = 0;        // 0: not timed
};
Json to_json(const Attempt& attempt);
Attempt attempt_from_json(const Json& json);

inline constexpr const char* kAttemptEvent = "attempt";

class Journal : public ports::Journal {
 public:
  Status attempt(const Attempt& attempt) { return append(kAttemptEvent, to_json(attempt)); }
  /// One exchange, as sent and answered.
  virtual Status exchange(const std::string& label, const llm::Request& request,
                          const llm::Outcome& outcome) = 0;
};

/// One exchange with a model.
using Answer = std::function<llm::Outcome(const llm::ModelId& id, const llm::Request& request)>;

}  // namespace kw::stages
