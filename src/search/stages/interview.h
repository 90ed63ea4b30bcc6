// The interview's model: asked only what reference, prompt and machine leave open, and never about
// tolerances. It may have questions for the user.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "stages/plan.h"
#include "stages/ports.h"

namespace kw::stages {

struct InterviewRequest {
  std::string reference, prompt, target;
  std::string known;              // what is settled already
  std::vector<std::string> open;  // what is not, a line each
  /// Puts a question to the user; nothing when nobody answers. May be empty.
  std::function<std::optional<std::string>(const std::string& question)> ask = {};
};

struct Interview {
  std::vector<std::string> inputs;  // "x:fp16[B,D]"
  std::optional<std::string> priority;
  std::string notes;
  std::vector<std::string> questions;  // that nobody answered
};

/// What came of it. Without `answers`, `problem` says why; `provider` is set when that was it.
struct InterviewOutcome {
  std::optional<Interview> answers;
  std::string problem;
  std::optional<llm::Failure> provider;
  std::vector<Attempt> attempts;
};

Result<InterviewOutcome> interview(const Plan& plan, const InterviewRequest& request,
                                   const Answer& answer, Journal& journal);

/// The answers in a reply; the Error says what is wrong with it.
Result<Interview> read_interview(const std::string& reply);

}  // namespace kw::stages
