// The language models of one synthesis: configuration, plan, client, and a ledger that outlives the
// session because every call is an event of the run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "llm/client.h"
#include "stages/model_options.h"
#include "stages/plan.h"

namespace kw::stages {

class ModelSession {
 public:
  /// Errors: providers.toml, an unknown provider, stage or number, a cassette that cannot be read.
  static Result<std::unique_ptr<ModelSession>> open(const ModelOptions& options, uint64_t seed);

  const Plan& plan() const { return plan_; }
  llm::Client& client() { return *client_; }
  /// From now on an exchange is hung up on as soon as this says that the time is over. Asked from
  /// several threads; set before anybody is asked.
  void ask_until(std::function<bool()> over) { over_ = std::move(over); }
  /// One exchange; blocks. Ctrl-C cancels it.
  llm::Outcome answer(const llm::ModelId& id, const llm::Request& request, const llm::Watch& watch);
  /// Rows of the ledger since the last call of this.
  std::vector<llm::LedgerEntry> fresh_rows();
  /// Rows of earlier sessions.
  void restore(const std::vector<llm::LedgerEntry>& rows);

  /// From now on these are the models that are asked, instead of the plan's.
  void ask_these(std::vector<llm::ModelId> models) { asked_ = std::move(models); }

  /// "anthropic:claude-sonnet-4-6, at most $2.0000 (--budget)": said before the first call.
  std::string terms() const;
  /// The distinct models that are asked.
  std::vector<std::string> model_names() const;
  /// Providers whose calls cannot be replayed any more, and other things worth a warning.
  std::vector<std::string> warnings();

 private:
  ModelSession() = default;
  std::vector<llm::ModelId> models() const;
  llm::Config config_;
  Plan plan_;
  std::vector<llm::ModelId> asked_;  // empty: the plan's
  std::unique_ptr<llm::Http> http_;
  std::unique_ptr<llm::Client> client_;
  size_t rows_seen_ = 0;
  bool replaying_ = false;
  double budget_ = kDefaultBudget;
  std::function<bool()> over_;
};

/// "builtin", "llm" or "hybrid" for what was asked; `warning` is set when a key might have been
/// meant to be used and cannot be. The Error lists the proposers.
Result<std::string> resolve_proposer(const std::string& proposer, const ModelOptions& models,
                                     std::string* warning);

/// No child process is given the keys of these providers.
void hide_keys(const llm::Config& config);

}  // namespace kw::stages
