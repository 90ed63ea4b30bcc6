// What a provider cannot do is done another way, and said: tools become fenced blocks of text,
// cache marks are dropped. The reply's `degraded` names each.
#pragma once

#include "llm/provider.h"

namespace kw::llm {

class Degrading : public LlmProvider {
 public:
  explicit Degrading(LlmProvider& inner) : inner_(inner) {}
  std::string name() const override { return inner_.name(); }
  /// With tools, because it has them one way or the other.
  Capabilities capabilities() const override;
  Outcome complete(const Request& request, const Watch& watch) override;

 private:
  LlmProvider& inner_;
};

}  // namespace kw::llm
