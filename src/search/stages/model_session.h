// The models of one synthesis: configuration, plan, client and ledger. Every call is an event of
// the run, so the ledger outlives the session.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "llm/client.h"
#include "stages/model_options.h"
#include "stages/stage_plan.h"

namespace kw::stages {

class ModelSession {
 public:
  /// Errors: providers.toml; an unknown provider, stage or number; a cassette that cannot be read.
  static Result<std::unique_ptr<ModelSession>> open(const ModelOptions& options, uint64_t seed);

  const ModelPlan& plan() const { return plan_; }
  llm::Client& client() { return *client_; }
  /// An exchange is cancelled as soon as `over` returns true. `over` is called from several
  /// threads. Set it before the first exchange.
  void ask_until(std::function<bool()> over) { over_ = std::move(over); }
  /// One exchange; blocks. Ctrl-C cancels it.
  llm::Outcome answer(const llm::ModelId& id, const llm::Request& request, const llm::Watch& watch);
  /// The rows of the ledger since the last call of this function.
  std::vector<llm::LedgerEntry> fresh_rows();
  /// Adds the rows of earlier sessions.
  void restore(const std::vector<llm::LedgerEntry>& rows);
  /// Writes the row of each call before it is sent.
  void write_ahead(llm::Spending::WriteAhead write);

  /// Names these models in terms() and model_names(), instead of the plan's.
  void ask_these(std::vector<llm::ModelId> models) { asked_ = std::move(models); }

  /// "models: ID; at most $2.0000 (--budget)": shown before the first call.
  std::string terms() const;
  /// "at most $2.0000 (--budget), 20 calls (--max-calls)", or which models have no limit.
  std::string limits_text() const;
  /// The distinct models that are asked.
  std::vector<std::string> model_names() const;
  /// Recorded exchanges that were not used, and features that providers lack.
  std::vector<std::string> warnings();

 private:
  ModelSession() = default;
  std::vector<llm::ModelId> models() const;
  llm::Config config_;
  ModelPlan plan_;
  std::vector<llm::ModelId> asked_;  // empty: the plan's
  std::unique_ptr<llm::Http> http_;
  std::unique_ptr<llm::Client> client_;
  size_t rows_seen_ = 0;
  bool replaying_ = false;
  std::function<bool()> over_;
};

/// "builtin", "llm" or "hybrid" for the option's value. `warning` is set when the configuration of
/// the models cannot be read. The Error lists the proposers.
Result<std::string> resolve_proposer(const std::string& proposer, const ModelOptions& models,
                                     std::string* warning);

/// Removes the keys of these providers from the environment of child processes.
void hide_keys(const llm::Config& config);

}  // namespace kw::stages
