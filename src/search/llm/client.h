// What a job needs to ask models: providers by name, each with its decorators. All share one
// budget, one ledger and one cassette.
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
  std::string record_path;  // "": not recorded
  std::string replay_path;  // "": live; otherwise nothing is sent and no key is needed
  std::vector<Fault> faults;
  bool programs = true;  // command:PROGRAM may be run
  uint64_t seed = 0;
};

/// The decorators from inside out: HTTP, program or cassette; recording, faults, deadline, rate
/// limit, ledger, budget, retries, degradation. So every attempt is counted. A replay has no
/// deadline and no rate limit; the other decorators are the same.
class Client {
 public:
  /// Borrows all arguments but the options. The Error: the cassette cannot be read.
  static Result<std::unique_ptr<Client>> open(const Config& config, ClientOptions options,
                                              Http& http, Clock& clock);
  ~Client();

  /// The provider with its decorators, created on the first call; the client owns it. The Error: a
  /// missing key, an unknown provider, or a program that may not be run.
  Result<LlmProvider*> provider(const std::string& name);
  /// One exchange with "provider:model"; sets request.model. A provider that cannot be created
  /// gives an Auth or NotFound failure.
  Outcome complete(const ModelId& id, Request request, const Watch& watch);

  /// Adds the calls of an earlier session of the same job. They count against its limits: their
  /// number, dollars, tokens and time.
  void restore(const std::vector<LedgerEntry>& entries);

  const Config& config() const { return config_; }
  const Ledger& ledger() const { return ledger_; }
  Spending& spending() { return spending_; }
  /// The number of unused exchanges of the cassette; 0 without one.
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
