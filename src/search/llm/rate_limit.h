// Keeps a provider's limits on requests per minute, tokens per minute and parallel calls.
#pragma once

#include <deque>
#include <mutex>

#include "llm/clock.h"
#include "llm/provider.h"

namespace kw::llm {

/// 0: no limit.
struct RateLimits {
  int64_t requests_per_minute = 0, tokens_per_minute = 0, max_parallel = 0;
};

class RateLimiting : public ProviderDecorator {
 public:
  RateLimiting(LlmProvider& inner, RateLimits pace, Clock& clock)
      : ProviderDecorator(inner), pace_(pace), clock_(clock) {}
  /// Waits until the limits allow the call, then makes it.
  Outcome complete(const Request& request, const Watch& watch) override;

 private:
  struct Sent {
    double time;
    int64_t tokens;
    uint64_t number;
  };
  /// 0: admitted and counted; otherwise the seconds to wait before the next try.
  double admit(int64_t tokens, uint64_t* number);
  void finish(uint64_t number, const Outcome& outcome);

  const RateLimits pace_;
  Clock& clock_;
  std::mutex mutex_;
  std::deque<Sent> sent_;  // in the last minute
  int64_t running_ = 0;
  uint64_t next_ = 0;
};

}  // namespace kw::llm
