// Replaces features that a provider does not have: tools become fenced blocks of text, cache marks
// are dropped. Reply::degraded lists each replacement.
#pragma once

#include "llm/provider.h"

namespace kw::llm {

class Degrading : public ProviderDecorator {
 public:
  explicit Degrading(LlmProvider& inner) : ProviderDecorator(inner) {}
  /// Tools are always true: fenced text replaces them when needed.
  Capabilities capabilities() const override;
  Outcome complete(const Request& request, const Watch& watch) override;
};

}  // namespace kw::llm
