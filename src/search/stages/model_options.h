// The user's options for language models.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kw::stages {

/// Which models may be asked, and what they may cost, as the user typed it (docs/models.md).
struct ModelOptions {
  std::string model_id;                            // for all stages; "": the default
  std::string escalation_id;                       // the stronger model; "": the default
  std::vector<std::string> stage_models, retries;  // "codegen=openai:gpt-5.2", "polish=0"
  std::optional<double> budget_usd;                // not set: kDefaultBudget
  std::optional<int64_t> max_calls, max_tokens;    // not set: no limit
  bool escalate = false;
  std::string record, replay;   // paths of cassettes
  bool transcripts = true;      // keep prompts and replies in the run folder
  bool store_reference = true;  // and the source of the reference
  bool programs = true;         // command:PROGRAM may be run; false when only a run folder names it
  /// Asks the user one question; not set when the user gives no answer. Empty: the user is not
  /// asked.
  std::function<std::optional<std::string>(const std::string& question)> ask = {};
};
/// Members that a run keeps.
void fields(auto& v, ModelOptions& m) {
  v("model_id", m.model_id)("escalation_id", m.escalation_id)("stage_models", m.stage_models);
  v("retries", m.retries)("budget_usd", m.budget_usd)("escalate", m.escalate);
  v("max_calls", m.max_calls)("max_tokens", m.max_tokens);
  v("transcripts", m.transcripts)("store_reference", m.store_reference);
}
/// Limits that the user gave now replace those that a run keeps.
inline void take_limits(ModelOptions& kept, const ModelOptions& now) {
  if (now.budget_usd) kept.budget_usd = now.budget_usd;
  if (now.max_calls) kept.max_calls = now.max_calls;
  if (now.max_tokens) kept.max_tokens = now.max_tokens;
}
inline constexpr double kDefaultBudget = 2;  // US dollars per kernel

}  // namespace kw::stages
