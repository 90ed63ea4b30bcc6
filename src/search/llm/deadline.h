// Ends one exchange in time, even when the provider below ignores its timeout.
#pragma once

#include "llm/clock.h"
#include "llm/provider.h"

namespace kw::llm {

class Deadline : public ProviderDecorator {
 public:
  /// Ends an exchange after `seconds`, or after the request's own timeout if that is shorter.
  Deadline(LlmProvider& inner, double seconds, Clock& clock)
      : ProviderDecorator(inner), seconds_(seconds), clock_(clock) {}
  Outcome complete(const Request& request, const Watch& watch) override;

 private:
  const double seconds_;
  Clock& clock_;
};

}  // namespace kw::llm
