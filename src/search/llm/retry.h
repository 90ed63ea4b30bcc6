// Asking again when a failure passes by itself: waits that double, or as long as the provider asks
// for.
#pragma once

#include <functional>

#include "core/random.h"
#include "llm/clock.h"
#include "llm/provider.h"

namespace kw::llm {

struct RetryPolicy {
  int attempts = 6;          // in all
  int attempts_timeout = 2;  // a lost reply may be charged for, and takes long
  int attempts_cut_off = 3;
  int attempts_network = 3;  // offline is found out soon
  double first_seconds = 1;
  double longest_seconds = 60;       // between two attempts
  double longest_retry_after = 300;  // a provider that asks for more is not waited for
};

/// Told before each wait.
using OnRetry = std::function<void(const Failure& failure, int attempt, double wait_seconds)>;

class Retrying : public LlmProvider {
 public:
  /// `seed` spreads the waits of processes that fail together.
  Retrying(LlmProvider& inner, RetryPolicy policy, Clock& clock, uint64_t seed,
           OnRetry on_retry = {})
      : inner_(inner),
        policy_(policy),
        clock_(clock),
        seed_(seed),
        on_retry_(std::move(on_retry)) {}
  std::string name() const override { return inner_.name(); }
  Capabilities capabilities() const override { return inner_.capabilities(); }
  Outcome complete(const Request& request, const Watch& watch) override;

 private:
  int attempts_for(FailureKind kind) const;

  LlmProvider& inner_;
  const RetryPolicy policy_;
  Clock& clock_;
  const uint64_t seed_;
  OnRetry on_retry_;
};

}  // namespace kw::llm
