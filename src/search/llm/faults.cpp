#include "llm/faults.h"

namespace kw::llm {

Outcome Faulty::complete(const Request& request, const Watch& watch) {
  int64_t call = 0;
  {
    const std::lock_guard lock(mutex_);
    call = ++calls_;
  }
  for (const Fault& fault : faults_) {
    if (fault.call != call) continue;
    Failure failure = fault.failure;
    if (fault.time == FaultTime::Before) return failure;
    const Outcome lost = inner_.complete(request, watch);
    failure.sent = true;
    failure.latency_seconds = lost ? lost->latency_seconds : lost.failure().latency_seconds;
    return failure;
  }
  return inner_.complete(request, watch);
}

}  // namespace kw::llm
