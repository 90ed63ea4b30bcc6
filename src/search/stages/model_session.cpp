// All models of a job share one client, so that its limits hold for all of them together. The terms
// are told before the first call, and promise only what can be kept: a limit in dollars says nothing
// about a model without a price. Refusing such models by default would be safer; models that the
// user runs at home have no price either, and cost nothing. The cost: without --max-calls or
// --max-tokens nothing but the time limits them.
#include "stages/model_session.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/contains.h"
#include "core/text.h"
#include "os/process.h"

namespace kw::stages {
namespace {

const std::vector<std::string> kProposers = {"auto", "builtin", "llm", "hybrid"};

PlanWords plan_words(const ModelOptions& options) {
  return {options.model_id, options.escalation_id, options.stage_models, options.retries,
          options.escalate};
}

bool names_models(const ModelOptions& options) {
  return !options.model_id.empty() || !options.stage_models.empty() || !options.replay.empty();
}

/// Whether every provider of the plan has a key.
bool keys_present(const llm::Config& config, const ModelPlan& plan) {
  const std::vector<llm::ProviderState> states = llm::provider_states(config);
  return std::ranges::all_of(plan.models, [&](const llm::ModelId& id) {
    return std::ranges::any_of(states, [&](const llm::ProviderState& state) {
      return state.name == id.provider && state.ready && state.has_key;
    });
  });
}

}  // namespace

void hide_keys(const llm::Config& config) {
  std::vector<std::string> names;
  for (const llm::ProviderRow& row : config.providers) {
    if (!row.key_env.empty()) names.push_back(row.key_env);
  }
  os::add_key_variables(names);
}

Result<std::string> resolve_proposer(const std::string& proposer, const ModelOptions& models,
                                     std::string* warning) {
  if (!contains(kProposers, proposer)) {
    return input_error("--proposer: there is no '{}'{}; proposers: {}", proposer,
                       did_you_mean(proposer, kProposers), join(kProposers, ", "));
  }
  if (proposer != "auto") return proposer;
  if (names_models(models)) return std::string("hybrid");
  const Result<llm::Config> config = llm::load_config();
  if (!config) {
    // The user did not ask for a model, so a faulty configuration is only a warning.
    *warning = "no model is asked: " + config.error().message;
    return std::string("builtin");
  }
  const ModelPlan plan = KW_TRY(make_plan(plan_words(models), *config));
  return std::string(keys_present(*config, plan) ? "hybrid" : "builtin");
}

Result<std::unique_ptr<ModelSession>> ModelSession::open(const ModelOptions& options,
                                                         uint64_t seed) {
  std::unique_ptr<ModelSession> session(new ModelSession());
  session->config_ = KW_TRY(llm::load_config());
  session->plan_ = KW_TRY(make_plan(plan_words(options), session->config_));
  llm::ClientOptions client;
  client.limits.usd = options.budget_usd.value_or(kDefaultBudget);
  client.limits.calls = options.max_calls;
  client.limits.tokens = options.max_tokens;
  // With a limit in dollars from the user and no other, a model without a price is refused. The
  // default limit allows it, and terms() says so.
  client.limits.unknown_price = options.budget_usd && !options.max_calls && !options.max_tokens
                                    ? llm::UnknownPrice::Refuse
                                    : llm::UnknownPrice::Allow;
  client.record_path = options.record;
  client.replay_path = options.replay;
  client.seed = seed;
  client.programs = options.programs;
  session->replaying_ = !options.replay.empty();
  session->http_ = llm::make_curl_http();
  session->client_ = KW_TRY(
      llm::Client::open(session->config_, std::move(client), *session->http_, llm::real_clock()));
  return session;
}

llm::Outcome ModelSession::answer(const llm::ModelId& id, const llm::Request& request,
                                  const llm::Watch& watch) {
  if (!over_) return client_->complete(id, request, watch);
  llm::Watch timed = watch;
  timed.cancelled = [this, &watch] { return over_() || (watch.cancelled && watch.cancelled()); };
  return client_->complete(id, request, timed);
}

std::vector<llm::LedgerEntry> ModelSession::fresh_rows() {
  const std::vector<llm::LedgerEntry> rows = client_->ledger().entries();
  std::vector<llm::LedgerEntry> fresh(rows.begin() + static_cast<std::ptrdiff_t>(rows_seen_),
                                      rows.end());
  rows_seen_ = rows.size();
  return fresh;
}

void ModelSession::restore(const std::vector<llm::LedgerEntry>& rows) {
  client_->restore(rows);
  rows_seen_ += rows.size();
}

void ModelSession::write_ahead(llm::Spending::WriteAhead write) {
  client_->spending().write_ahead(std::move(write));
}

std::vector<llm::ModelId> ModelSession::models() const {
  return asked_.empty() ? std::vector<llm::ModelId>(plan_.models.begin(), plan_.models.end())
                        : asked_;
}

std::vector<std::string> ModelSession::model_names() const {
  std::vector<std::string> names;
  for (const llm::ModelId& id : models()) {
    if (!contains(names, id.text())) names.push_back(id.text());
  }
  return names;
}

std::string ModelSession::terms() const {
  std::string text =
      fmt::format("models: {}{}; {}", join(model_names(), ", "),
                  plan_.escalate ? ", then " + plan_.escalation.text() : "", limits_text());
  if (replaying_) text += "; replayed, nothing is sent";
  return text;
}

// A limit in dollars cannot hold for a model without a price, so it is not shown as one.
std::string ModelSession::limits_text() const {
  const llm::Limits& limits = client_->spending().limits();
  std::vector<std::string> unpriced;
  for (const llm::ModelId& id : models()) {
    if (!config_.price(id.provider, id.model) && !contains(unpriced, id.text()))
      unpriced.push_back(id.text());
  }
  const bool priced = unpriced.size() < model_names().size();
  std::vector<std::string> most;
  if (limits.usd && priced) most.push_back(llm::usd_text(*limits.usd) + " (--budget)");
  if (limits.calls) most.push_back(fmt::format("{} calls (--max-calls)", *limits.calls));
  if (limits.tokens) most.push_back(fmt::format("{} tokens (--max-tokens)", *limits.tokens));
  std::string text = most.empty() ? "no limit" : "at most " + join(most, ", ");
  if (unpriced.empty()) return text;
  text += "; no price is known for " + join(unpriced, ", ");
  const bool counted = limits.calls || limits.tokens;
  return counted ? text : text + ", so --budget cannot limit it: use --max-calls or --max-tokens";
}

std::vector<std::string> ModelSession::warnings() {
  std::vector<std::string> list;
  if (const size_t left = client_->left_to_replay(); left > 0)
    list.push_back(fmt::format("{} recorded exchanges were not used", left));
  std::vector<std::string> degraded;
  for (const llm::LedgerEntry& row : client_->ledger().entries()) {
    for (const std::string& what : row.degraded) {
      const std::string line = row.provider + ": " + what;
      if (!contains(degraded, line)) degraded.push_back(line);
    }
  }
  list.insert(list.end(), degraded.begin(), degraded.end());
  return list;
}

}  // namespace kw::stages
