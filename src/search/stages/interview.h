// The interview: a model answers what the reference, the prompt and the machine leave open. It is
// never asked about tolerances. It may put questions to the user.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "stages/stage_plan.h"
#include "stages/stage_ports.h"

namespace kw::stages {

struct InterviewRequest {
  std::string reference, prompt, target;
  std::string known;              // what is already decided
  std::vector<std::string> open;  // what is open, one line each
  /// Asks the user one question; not set when the user gives no answer. May be empty.
  std::function<std::optional<std::string>(const std::string& question)> ask = {};
};

struct Interview {
  std::vector<std::string> inputs;  // "x:fp16[B,D]"
  std::optional<std::string> priority;
  std::string notes;
  std::vector<std::string> questions;  // that the user did not answer
};

/// The result. Without `answers`, `problem` says why; `provider` is set when the provider failed.
struct InterviewOutcome {
  std::optional<Interview> answers;
  std::string problem;
  std::optional<llm::Failure> provider;
  std::vector<Attempt> attempts;
};

Result<InterviewOutcome> interview(const ModelPlan& plan, const InterviewRequest& request,
                                   const Answer& answer, Journal& journal);

/// The answers in a reply; the Error says what is wrong with it.
Result<Interview> read_interview(const std::string& reply);

}  // namespace kw::stages
