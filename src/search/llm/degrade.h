// Replaces features that a provider does not have: tools become fenced blocks of text, cache marks
// are dropped. Reply::degraded lists each replacement.
#pragma once

#include "llm/provider.h"

namespace kw::llm {

class Degrading : public LlmProvider {
 public:
  explicit Degrading(LlmProvider& inner) : inner_(inner) {}
  std::string name() const override { return inner_.name(); }
  /// Tools are always true: fenced text replaces them when needed.
  Capabilities capabilities() const override;
  Outcome complete(const Request& request, const Watch& watch) override;

 private:
  LlmProvider& inner_;
};

}  // namespace kw::llm
