// Takes keys out of what a provider answers. The provider removes its own key; this also removes
// the keys of all other providers, which a program or a server may have from elsewhere.
#pragma once

#include <vector>

#include "llm/provider.h"
#include "llm/secret.h"

namespace kw::llm {

/// Takes the key out of all texts of the outcome.
void redact(Outcome& outcome, const Secret& key);

class Redacting : public ProviderDecorator {
 public:
  Redacting(LlmProvider& inner, std::vector<Secret> keys)
      : ProviderDecorator(inner), keys_(std::move(keys)) {}
  Outcome complete(const Request& request, const Watch& watch) override;

 private:
  const std::vector<Secret> keys_;
};

}  // namespace kw::llm
