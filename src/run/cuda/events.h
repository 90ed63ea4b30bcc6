// Two events on the context's stream, and the time between them.
#pragma once

#include "cuda/context.h"

namespace kw::cuda {

/// The events are destroyed with their owner.
class EventPair {
 public:
  static FaultOr<EventPair> create(const Context& context);
  EventPair(EventPair&& other) noexcept;
  EventPair& operator=(EventPair&&) = delete;
  ~EventPair();
  MaybeFault record_start();
  MaybeFault record_end();
  /// Microseconds between them; both must have happened.
  FaultOr<double> elapsed();

 private:
  explicit EventPair(const Context& context) : context_(&context) {}
  const Context* context_;
  CuEvent start_ = nullptr;
  CuEvent end_ = nullptr;
};

}  // namespace kw::cuda
