#include "llm/retry.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/hash.h"

namespace kw::llm {

int Retrying::attempts_for(FailureKind kind) const {
  if (kind == FailureKind::Timeout) return policy_.attempts_timeout;
  if (kind == FailureKind::Network) return policy_.attempts_network;
  return kind == FailureKind::CutOff ? policy_.attempts_cut_off : policy_.attempts;
}

Outcome Retrying::complete(const Request& request, const Watch& watch) {
  // Each call has its own random numbers, so that concurrent calls need no lock.
  Random random(hash64(request.label, seed_));
  std::map<FailureKind, int> failures;
  for (int attempt = 1;; ++attempt) {
    Outcome outcome = inner_.complete(request, watch);
    if (outcome) return outcome;
    Failure& failure = outcome.failure();
    failure.attempts = attempt;
    if (!failure.passing()) return outcome;
    if (attempt >= policy_.attempts || ++failures[failure.kind] >= attempts_for(failure.kind)) {
      if (attempt > 1) failure.message += fmt::format(" (after {} attempts)", attempt);
      return outcome;
    }
    const double doubled = policy_.first_seconds * std::exp2(attempt - 1);
    double wait = std::min(policy_.longest_seconds, doubled) * (0.75 + 0.5 * random.real());
    if (failure.retry_after_seconds) {
      if (*failure.retry_after_seconds > policy_.longest_retry_after) {
        failure.message +=
            fmt::format(" (the provider requests a wait of {:.0f} s, which is too long)",
                        *failure.retry_after_seconds);
        return outcome;
      }
      wait = std::max(*failure.retry_after_seconds, wait * 0.1);
    }
    if (on_retry_) on_retry_(failure, attempt, wait);
    if (!clock_.sleep(wait, watch.cancelled)) {
      failure.kind = FailureKind::Cancelled;
      failure.message = "stopped by the user while waiting to ask again: " + failure.message;
      return outcome;
    }
  }
}

}  // namespace kw::llm
