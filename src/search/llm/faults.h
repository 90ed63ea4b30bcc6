// Injected failures, for tests of the decorators above a provider.
#pragma once

#include <mutex>
#include <vector>

#include "llm/provider.h"

namespace kw::llm {

/// Before: nothing is sent. After: the exchange happens and its reply is lost.
enum class FaultTime : uint8_t { Before, After };

struct Fault {
  int64_t call = 1;  // the number of the call that fails, from 1
  Failure failure;
  FaultTime time = FaultTime::Before;
};

class Faulty : public ProviderDecorator {
 public:
  Faulty(LlmProvider& inner, std::vector<Fault> faults)
      : ProviderDecorator(inner), faults_(std::move(faults)) {}
  Outcome complete(const Request& request, const Watch& watch) override;

 private:
  const std::vector<Fault> faults_;
  std::mutex mutex_;
  int64_t calls_ = 0;
};

}  // namespace kw::llm
