// All a job needs to talk to models: providers by id, each under its decorators, with one budget,
// one ledger and one cassette for all.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "llm/budget.h"
#include "llm/cassette.h"
#include "llm/clock.h"
#include "llm/config.h"
#include "llm/faults.h"
#include "llm/http.h"
#include "llm/ledger.h"
#include "llm/provider.h"
#include "llm/retry.h"

namespace kw::llm {

struct ClientOptions {
  Limits limits;
  RetryPolicy retry;
  OnRetry on_retry = {};
  std::string record_path;  // "" = not recorded
  std::string replay_path;  // "" = live; else nothing is sent and no key is needed
  std::vector<Fault> faults;
  bool programs = true;  // command:PROGRAM may be run
  uint64_t seed = 0;
};

/// From the inside out: HTTP or program (or cassette), recording, faults, deadline, rate limit,
/// ledger, budget, retries, degradation. So every attempt is counted, and a replay runs the same
/// decisions.
class Client {
 public:
  /// Borrows all but the options. The Error is a cassette that cannot be read.
  static Result<std::unique_ptr<Client>> open(const Config& config, ClientOptions options,
                                              Http& http, Clock& clock);
  ~Client();

  /// The provider under its decorators, made when first asked for; it lives as long as the client.
  /// The Error is a missing key or an unknown provider.
  Result<LlmProvider*> provider(const std::string& name);
  /// One exchange with "provider:model"; request.model is set from it. What keeps the provider from
  /// being made is an Auth or NotFound failure.
  Outcome complete(const ModelId& id, Request request, const Watch& watch);

  /// Calls of an earlier session of the same job: they count against its limits.
  void restore(const std::vector<LedgerEntry>& entries);

  const Config& config() const { return config_; }
  const Ledger& ledger() const { return ledger_; }
  Spending& spending() { return spending_; }
  /// Exchanges of a cassette not asked for yet; 0 without one.
  size_t left_to_replay();

 private:
  struct Stack;
  Client(const Config& config, ClientOptions options, Http& http, Clock& clock);
  Result<std::unique_ptr<LlmProvider>> bottom(const std::string& name);

  const Config& config_;
  ClientOptions options_;
  Http& http_;
  Clock& clock_;
  Ledger ledger_;
  Spending spending_;
  std::optional<Cassette> cassette_;
  std::optional<CassetteWriter> writer_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Stack>> stacks_;
};

}  // namespace kw::llm
