// Retries after failures that may pass: the waits double, or follow the provider's Retry-After.
#pragma once

#include <functional>

#include "core/random.h"
#include "llm/clock.h"
#include "llm/provider.h"

namespace kw::llm {

struct RetryPolicy {
  int attempts = 6;          // in total
  int attempts_timeout = 2;  // a lost reply may be charged, and a timeout takes long
  int attempts_cut_off = 3;
  int attempts_network = 3;  // few, so that an offline user learns it soon
  double first_seconds = 1;
  double longest_seconds = 60;       // between two attempts
  double longest_retry_after = 300;  // a longer Retry-After fails at once
};

/// Called before each wait.
using OnRetry = std::function<void(const Failure& failure, int attempt, double wait_seconds)>;

class Retrying : public ProviderDecorator {
 public:
  /// `seed` makes processes that fail together wait for different times.
  Retrying(LlmProvider& inner, RetryPolicy policy, Clock& clock, uint64_t seed,
           OnRetry on_retry = {})
      : ProviderDecorator(inner),
        policy_(policy),
        clock_(clock),
        seed_(seed),
        on_retry_(std::move(on_retry)) {}
  Outcome complete(const Request& request, const Watch& watch) override;

 private:
  int attempts_for(FailureKind kind) const;

  const RetryPolicy policy_;
  Clock& clock_;
  const uint64_t seed_;
  OnRetry on_retry_;
};

}  // namespace kw::llm
