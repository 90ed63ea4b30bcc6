#include "stages/stage_plan.h"

#include <algorithm>

#include "core/text.h"

namespace kw::stages {
namespace {

constexpr int64_t kMostAttempts = 100;

/// "codegen=ID" -> stage and "ID".
Result<std::pair<Stage, std::string>> stage_and_value(const char* option, const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos || equals + 1 == word.size())
    return input_error("{} needs STAGE=VALUE, not '{}'", option, word);
  Result<Stage> stage = find_stage(word.substr(0, equals));
  if (!stage) return std::move(stage).error().context(option);
  return std::pair(*stage, word.substr(equals + 1));
}

/// "codegen=5", "escalated_codegen=2".
Status read_retries(const std::string& word, ModelPlan& plan) {
  const std::string name = word.substr(0, word.find('='));
  int* budget = name == "escalated_codegen"       ? &plan.escalated_codegen
                : name == "escalated_performance" ? &plan.escalated_performance
                                                  : nullptr;
  std::string text = word.substr(std::min(word.size(), name.size() + 1));
  if (budget == nullptr) {
    const auto [stage, value] = KW_TRY(stage_and_value("--retries", word));
    budget = &plan.budgets[static_cast<size_t>(stage)];
    text = value;
  }
  const auto number = parse_int(text);
  if (!number || *number < 0 || *number > kMostAttempts)
    return input_error("--retries {}: '{}' is not a number of attempts from 0 to {}", word, text,
                       kMostAttempts);
  *budget = static_cast<int>(*number);
  return Done{};
}

}  // namespace

const char* stage_name(Stage stage) {
  constexpr const char* kNames[] = {"interview", "codegen", "correctness", "performance", "polish"};
  return kNames[static_cast<size_t>(stage)];
}

Result<Stage> find_stage(const std::string& name) {
  std::vector<std::string> names;
  for (const Stage stage : kAllStages) {
    if (name == stage_name(stage)) return stage;
    names.emplace_back(stage_name(stage));
  }
  return input_error("there is no stage '{}'{}; stages: {}", name, did_you_mean(name, names),
                     join(names, ", "));
}

Result<ModelPlan> make_plan(const PlanWords& words, const llm::Config& config) {
  ModelPlan plan;
  const std::string all = words.model_id.empty() ? kDefaultModel : words.model_id;
  plan.models.fill(KW_TRY(llm::parse_model_id(all, config)));
  for (const std::string& word : words.stage_models) {
    const auto [stage, id] = KW_TRY(stage_and_value("--stage-model", word));
    plan.models[static_cast<size_t>(stage)] = KW_TRY(llm::parse_model_id(id, config));
  }
  for (const std::string& word : words.retries) KW_TRY(read_retries(word, plan));
  plan.escalation = KW_TRY(llm::parse_model_id(
      words.escalation.empty() ? kDefaultEscalation : words.escalation, config));
  plan.escalate = words.escalate;
  return plan;
}

}  // namespace kw::stages
