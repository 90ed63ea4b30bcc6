// The five stages by name, the model of each and its number of attempts, as the user can set them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"
#include "llm/config.h"

namespace kw::stages {

enum class Stage : uint8_t { Interview, Codegen, Correctness, Performance, Polish };
inline constexpr size_t kStages = 5;
inline constexpr std::array kAllStages = {Stage::Interview, Stage::Codegen, Stage::Correctness,
                                          Stage::Performance, Stage::Polish};

/// "interview", "codegen", "correctness", "performance", "polish".
const char* stage_name(Stage stage);
/// The input Error lists the five names.
Result<Stage> find_stage(const std::string& name);

inline constexpr const char* kDefaultModel = "anthropic:claude-sonnet-4-6";
inline constexpr const char* kDefaultEscalation = "anthropic:claude-opus-4-7";

struct ModelPlan {
  std::array<llm::ModelId, kStages> models;         // by stage
  std::array<int, kStages> budgets{1, 3, 3, 3, 1};  // attempts by stage
  llm::ModelId escalation;                          // asked when a stage has no attempts left …
  bool escalate = false;                            // … if this is set
  int escalated_codegen = 1, escalated_performance = 1;

  const llm::ModelId& model(Stage stage) const { return models[static_cast<size_t>(stage)]; }
  int budget(Stage stage) const { return budgets[static_cast<size_t>(stage)]; }
};

/// As the user typed it: one model id for all stages ("": the default), then "STAGE=ID" and
/// "STAGE=N" for single stages. "escalated_codegen" and "escalated_performance" set the attempts of
/// the escalation model ("": the default).
struct PlanWords {
  std::string model_id, escalation;
  std::vector<std::string> stage_models, retries;
  bool escalate = false;
};
Result<ModelPlan> make_plan(const PlanWords& words, const llm::Config& config);

}  // namespace kw::stages
