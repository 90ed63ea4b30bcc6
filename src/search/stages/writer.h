// One model that writes candidates: a conversation with tools, from a request to a submission.
// Internal to stages.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stages/conversation.h"
#include "stages/stages.h"
#include "stages/tools.h"

namespace kw::stages {

/// The stage and number of a try, and its folder in the journal.
struct TryRequest {
  Stage stage = Stage::Codegen;
  int number = 1;
  bool escalated = false;
  std::string folder;  // in the journal
};

/// The result of one try. At most one of the two is set; neither: the provider failed.
struct Try {
  std::optional<record::Candidate> candidate;
  std::string problem;  // what is wrong with the answer, as text for the model
};

/// The beginning that all conversations about a task share.
std::vector<llm::SystemBlock> system_blocks(const StageInput& input);

class Writer {
 public:
  Writer(const ModelPlan& plan, const StageInput& input, const Ports& ports);

  /// Starts a new conversation with the shared beginning.
  void begin(bool with_tools);
  void say(const std::string& text) { conversation_.say(text); }
  /// Asks the model, runs its tool calls and reads the answer.
  Result<Try> submit(const TryRequest& request);
  /// Sets the module that a diff without a parent changes.
  void set_current(const record::Candidate& candidate) { current_ = remember(candidate); }

  const std::optional<llm::Failure>& failure() const { return failure_; }
  const std::vector<std::string>& compactions() const { return conversation_.compactions(); }
  const llm::ModelId& model(const TryRequest& request) const;

 private:
  std::string remember(const record::Candidate& candidate);
  std::optional<std::pair<std::string, std::string>> find(const std::string& id) const;
  record::Candidate candidate(const TryRequest& request, const Submission& submission);
  Result<std::optional<llm::Reply>> ask(const TryRequest& request, int round);
  Status run_calls(const TryRequest& request, const llm::Reply& reply, int round);
  Try read(const TryRequest& request, const llm::Reply& reply);
  Try last_examined() const;

  const ModelPlan& plan_;
  const StageInput& input_;
  const Ports& ports_;
  Conversation conversation_;
  std::map<std::string, record::Candidate> modules_;  // by id
  std::string current_;
  std::string looked_at_;  // id of the last module that a tool examined in this try
  std::optional<llm::Failure> failure_;
};

}  // namespace kw::stages
