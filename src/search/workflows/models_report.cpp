// The work of models in report.json: traces by stage, attempts, the ledger.
#include <algorithm>

#include "core/text.h"
#include "single_run/json.h"
#include "workflows/steps.h"

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

}  // namespace

Json trace_json(const Session& session, const StageTrace& trace) {
  StageUse use;
  size_t attempts = trace.attempts;
  if (session.models) {
    use = use_of(session.models->session->client().ledger().entries(), trace.name);
    const auto tried =
        std::ranges::count(session.models->attempts, trace.name, &stages::Attempt::stage);
    attempts = std::max({attempts, static_cast<size_t>(tried), size_t{1}});
  }
  Json row = Json::object();
  row.set("stage_name", trace.name).set("attempts", static_cast<int64_t>(attempts));
  row.set("succeeded", trace.succeeded);
  row.set("model_used", use.models.empty() ? "none" : join(use.models, ","));
  row.set("tokens_in", use.usage.input).set("tokens_out", use.usage.output);
  row.set("cache_read_tokens", use.usage.cache_read);
  row.set("latency_seconds", use.seconds > 0 ? use.seconds : trace.seconds);
  if (!session.models) return row;
  row.set("provider", use.providers.empty() ? Json() : Json(join(use.providers, ",")));
  return row.set("degraded", single_run::texts(use.degraded)).set("wall_seconds", trace.seconds);
}

Json models_json(const Session& session) {
  if (!session.models) return session.past_models;
  const ModelWork& work = *session.models;
  Json json = Json::object(), by_stage = Json::object(), budgets = Json::object();
  const stages::ModelPlan& plan = work.session->plan();
  for (const stages::Stage stage : stages::kAllStages) {
    by_stage.set(stages::stage_name(stage), plan.model(stage).text());
    budgets.set(stages::stage_name(stage), plan.budget(stage));
  }
  json.set("stage_models", std::move(by_stage)).set("retry_budgets", std::move(budgets));
  json.set("escalate", plan.escalate).set("escalation_model", plan.escalation.text());
  json.set("escalation_budgets", Json::object()
                                     .set("codegen", plan.escalated_codegen)
                                     .set("performance", plan.escalated_performance));
  json.set("budget_usd", session.request.models.budget_usd.value_or(stages::kDefaultBudget));
  json.set("transcripts", session.request.models.transcripts);
  Json attempts = Json::array();
  for (const stages::Attempt& attempt : work.attempts) attempts.push(stages::to_json(attempt));
  json.set("attempts", std::move(attempts));
  json.set("not_asked", work.why_no_talk.empty() ? Json() : Json(work.why_no_talk));
  json.set("provider_failure", work.provider ? Json(work.provider->error().message) : Json());
  Json polish = Json::object();
  polish.set("accepted", work.polished);
  polish.set("reason", work.why_not_polished.empty() ? Json() : Json(work.why_not_polished));
  json.set("polish", std::move(polish));
  if (work.reading) json.set("readers", review::scoreboard_of(*session.run).json());
  return json.set("ledger", work.session->client().ledger().json());
}

}  // namespace kw::workflows
