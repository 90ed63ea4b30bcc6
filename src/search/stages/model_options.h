// What a user says about language models.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kw::stages {

/// Which language models may be asked, and what that may cost; as typed (docs/models.md).
struct ModelOptions {
  std::string model_id;                            // for all stages; "" = the default
  std::string escalation_id;                       // asked last; "" = the default
  std::vector<std::string> stage_models, retries;  // "codegen=openai:gpt-5.2", "polish=0"
  std::optional<double> budget_usd;                // none: kDefaultBudget
  bool escalate = false;
  std::string record, replay;   // cassettes
  bool transcripts = true;      // prompts and replies are kept in the run's folder
  bool store_reference = true;  // and the reference's source
  bool programs = true;         // command:PROGRAM may be run; a folder's word alone is not enough
  /// Puts a question to the user; nothing when nobody answers. Empty: nobody is asked.
  std::function<std::optional<std::string>(const std::string& question)> ask = {};
};
inline constexpr double kDefaultBudget = 2;  // US dollars per kernel

}  // namespace kw::stages
