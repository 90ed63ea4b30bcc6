// The work of models in report.json: traces by stage, attempts, the ledger.
#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"
#include "workflows/model_work.h"
#include "workflows/synthesis.h"

namespace kw::workflows {
namespace {

/// The sum of one stage's calls. A row's label starts with the stage's name.
struct StageUse {
  std::vector<std::string> models, providers, degraded;
  llm::Usage usage;
  double seconds = 0;
};

void add_new(std::vector<std::string>& list, const std::string& text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(text);
}

StageUse use_of(const std::vector<llm::LedgerEntry>& rows, const std::string& stage) {
  StageUse use;
  for (const llm::LedgerEntry& row : rows) {
    if (!row.label.starts_with(stage + " ")) continue;
    add_new(use.models, row.provider + ":" + row.model);
    add_new(use.providers, row.provider);
    for (const std::string& what : row.degraded) add_new(use.degraded, what);
    use.usage.input += row.usage.input + row.usage.cache_read + row.usage.cache_write;
    use.usage.output += row.usage.output;
    use.usage.cache_read += row.usage.cache_read;
    use.seconds += row.latency_seconds;
  }
  return use;
}

Json list_json(const std::vector<std::string>& list) {
  Json json = Json::array();
  for (const std::string& text : list) json.push(text);
  return json;
}

}  // namespace

Json Synthesis::trace_json(const StageTrace& trace) const {
  StageUse use;
  size_t attempts = trace.attempts;
  if (work_) {
    use = use_of(work_->session->client().ledger().entries(), trace.name);
    const auto tried = std::ranges::count(work_->attempts, trace.name, &stages::Attempt::stage);
    attempts = std::max({attempts, static_cast<size_t>(tried), size_t{1}});
  }
  Json row = Json::object();
  row.set("stage_name", trace.name).set("attempts", static_cast<int64_t>(attempts));
  row.set("succeeded", trace.succeeded);
  row.set("model_used", use.models.empty() ? "none" : join(use.models, ","));
  row.set("tokens_in", use.usage.input).set("tokens_out", use.usage.output);
  row.set("cache_read_tokens", use.usage.cache_read);
  row.set("latency_seconds", use.seconds > 0 ? use.seconds : trace.seconds);
  if (!work_) return row;
  row.set("provider", use.providers.empty() ? Json() : Json(join(use.providers, ",")));
  return row.set("degraded", list_json(use.degraded)).set("wall_seconds", trace.seconds);
}

Json Synthesis::models_json() const {
  if (!work_) return past_models_;
  Json json = Json::object(), by_stage = Json::object(), budgets = Json::object();
  const stages::ModelPlan& plan = work_->session->plan();
  for (const stages::Stage stage : stages::kAllStages) {
    by_stage.set(stages::stage_name(stage), plan.model(stage).text());
    budgets.set(stages::stage_name(stage), plan.budget(stage));
  }
  json.set("stage_models", std::move(by_stage)).set("retry_budgets", std::move(budgets));
  json.set("escalate", plan.escalate).set("escalation_model", plan.escalation.text());
  json.set("escalation_budgets", Json::object()
                                     .set("codegen", plan.escalated_codegen)
                                     .set("performance", plan.escalated_performance));
  json.set("budget_usd", request_.models.budget_usd.value_or(stages::kDefaultBudget));
  json.set("transcripts", request_.models.transcripts);
  Json attempts = Json::array();
  for (const stages::Attempt& attempt : work_->attempts) attempts.push(stages::to_json(attempt));
  json.set("attempts", std::move(attempts));
  json.set("not_asked", work_->why_no_talk.empty() ? Json() : Json(work_->why_no_talk));
  json.set("provider_failure", work_->provider ? Json(work_->provider->error().message) : Json());
  Json polish = Json::object();
  polish.set("accepted", work_->polished);
  polish.set("reason", work_->why_not_polished.empty() ? Json() : Json(work_->why_not_polished));
  json.set("polish", std::move(polish));
  if (work_->reading) json.set("readers", review::scoreboard_of(*run_).json());
  return json.set("ledger", work_->session->client().ledger().json());
}

// Writes the result of each stage where users of other generators expect it.
Status Synthesis::show_outcome() {
  const auto write = [this](const char* path, const Json& json) -> Status {
    return json.is_null() ? Status(Done{}) : run_->write(path, json.dump(true) + "\n");
  };
  KW_TRY(write("stage3_correctness/report.json", report_.document["correctness"]));
  KW_TRY(write("stage4_performance/report.json", report_.document["performance"]));
  if (!report_.passed) return Done{};
  Json polish = report_.document["models"]["polish"];
  KW_TRY(write("stage5_polish/status.json", polish.set("kernel_cu_path", report_.kernel_path)));
  return run_->show("stage5_polish/final", "final");
}

void Synthesis::fill_models() {
  const llm::LedgerTotals totals = work_->session->client().ledger().totals();
  for (const std::string& warning : work_->session->warnings()) report_.warnings.push_back(warning);
  report_.models =
      fmt::format("{}, {} calls, {} tokens in, {} out ({} read from the cache)",
                  join(work_->session->model_names(), ", "), totals.calls,
                  totals.usage.input + totals.usage.cache_read + totals.usage.cache_write,
                  totals.usage.output, totals.usage.cache_read);
  report_.cost = llm::cost_text(totals);
  if (!work_->provider) return;
  const bool kept = report_.passed || report_.interrupted;
  report_.warnings.push_back(
      fmt::format("the provider failed: {}{}", work_->provider->error().message,
                  kept && work_->proposer == "hybrid"
                      ? "; what the built-in proposer and earlier answers gave is used"
                      : ""));
}

}  // namespace kw::workflows
