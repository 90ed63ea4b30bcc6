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

class Faulty : public LlmProvider {
 public:
  Faulty(LlmProvider& inner, std::vector<Fault> faults)
      : inner_(inner), faults_(std::move(faults)) {}
  std::string name() const override { return inner_.name(); }
  Capabilities capabilities() const override { return inner_.capabilities(); }
  Outcome complete(const Request& request, const Watch& watch) override;

 private:
  LlmProvider& inner_;
  const std::vector<Fault> faults_;
  std::mutex mutex_;
  int64_t calls_ = 0;
};

}  // namespace kw::llm
