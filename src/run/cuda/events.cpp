#include "cuda/events.h"

#include <utility>

namespace kw::cuda {

FaultOr<EventPair> EventPair::create(const Context& context) {
  EventPair pair(context);
  KW_TRY(
      context.check(context.api().event_create(&pair.start_, kEventDefault), "creating an event"));
  KW_TRY(context.check(context.api().event_create(&pair.end_, kEventDefault), "creating an event"));
  return pair;
}

EventPair::EventPair(EventPair&& other) noexcept
    : context_(other.context_),
      start_(std::exchange(other.start_, nullptr)),
      end_(std::exchange(other.end_, nullptr)) {}

EventPair::~EventPair() {
  if (context_->lost()) return;
  if (start_ != nullptr) context_->api().event_destroy(start_);
  if (end_ != nullptr) context_->api().event_destroy(end_);
}

MaybeFault EventPair::record_start() {
  return context_->check(context_->api().event_record(start_, context_->stream()),
                         "recording an event");
}

MaybeFault EventPair::record_end() {
  return context_->check(context_->api().event_record(end_, context_->stream()),
                         "recording an event");
}

FaultOr<double> EventPair::elapsed() {
  float milliseconds = 0;
  KW_TRY(context_->check(context_->api().event_elapsed(&milliseconds, start_, end_),
                         "reading the events"));
  return static_cast<double>(milliseconds) * 1000;
}

}  // namespace kw::cuda
