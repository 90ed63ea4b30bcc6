#include "llm/rate_limit.h"

#include <algorithm>

namespace kw::llm {
namespace {

constexpr double kMinute = 60;
constexpr int64_t kBytesPerToken = 3;  // a guess; replaced by the reported number later

}  // namespace

double RateLimiting::admit(int64_t tokens, uint64_t* number) {
  const std::lock_guard lock(mutex_);
  const double now = clock_.now();
  while (!sent_.empty() && sent_.front().time <= now - kMinute) sent_.pop_front();
  if (pace_.max_parallel > 0 && running_ >= pace_.max_parallel) return 0.05;
  const auto until_gone = [&](const Sent& sent) {
    return std::max(0.001, sent.time + kMinute - now);
  };
  if (pace_.requests_per_minute > 0 &&
      static_cast<int64_t>(sent_.size()) >= pace_.requests_per_minute) {
    const auto blocking = sent_.size() - static_cast<size_t>(pace_.requests_per_minute);
    return until_gone(sent_[blocking]);
  }
  if (pace_.tokens_per_minute > 0) {
    int64_t used = 0;
    for (const Sent& sent : sent_) used += sent.tokens;
    // A request over the limit of a whole minute is sent alone: waiting longer would not help.
    if (!sent_.empty() && used + tokens > pace_.tokens_per_minute) return until_gone(sent_.front());
  }
  *number = next_++;
  sent_.push_back({now, tokens, *number});
  ++running_;
  return 0;
}

void RateLimiting::finish(uint64_t number, const Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  --running_;
  const Usage& usage = outcome ? outcome->usage : outcome.failure().usage;
  for (Sent& sent : sent_) {
    if (sent.number == number && usage.known) sent.tokens = usage.total();
  }
}

Outcome RateLimiting::complete(const Request& request, const Watch& watch) {
  uint64_t number = 0;
  while (const double wait = admit(most_input_tokens(request) / kBytesPerToken, &number)) {
    if (clock_.sleep(wait, watch.cancelled)) continue;
    Failure failure;
    failure.kind = FailureKind::Cancelled;
    failure.message = "stopped by the user while waiting for the provider's rate limit";
    return failure;
  }
  Outcome outcome = inner_.complete(request, watch);
  finish(number, outcome);
  return outcome;
}

}  // namespace kw::llm
