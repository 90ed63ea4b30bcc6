#include "llm/deadline.h"

#include <fmt/core.h>

#include <algorithm>

namespace kw::llm {

Outcome Deadline::complete(const Request& request, const Watch& watch) {
  Request limited = request;
  limited.timeout_seconds = std::min(request.timeout_seconds, seconds_);
  const double end = clock_.now() + limited.timeout_seconds;
  bool late = false;
  Watch watched = watch;
  watched.cancelled = [&] {
    if (watch.cancelled && watch.cancelled()) return true;
    late = clock_.now() >= end;
    return late;
  };
  Outcome outcome = inner_.complete(limited, watched);
  if (!outcome && late && outcome.failure().kind == FailureKind::Cancelled) {
    outcome.failure().kind = FailureKind::Timeout;
    outcome.failure().message =
        fmt::format("no complete reply within {:.0f} s", limited.timeout_seconds);
  }
  return outcome;
}

}  // namespace kw::llm
