// Ends one exchange in time, even when the provider below ignores its timeout.
#pragma once

#include "llm/clock.h"
#include "llm/provider.h"

namespace kw::llm {

class Deadline : public LlmProvider {
 public:
  /// Ends an exchange after `seconds`, or after the request's own timeout if that is shorter.
  Deadline(LlmProvider& inner, double seconds, Clock& clock)
      : inner_(inner), seconds_(seconds), clock_(clock) {}
  std::string name() const override { return inner_.name(); }
  Capabilities capabilities() const override { return inner_.capabilities(); }
  Outcome complete(const Request& request, const Watch& watch) override;

 private:
  LlmProvider& inner_;
  const double seconds_;
  Clock& clock_;
};

}  // namespace kw::llm
