// events.jsonl: one event per line, only ever appended to. A process that dies while appending
// leaves a torn last line, which readers leave out and the next owner cuts off. Internal to store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "os/disk.h"
#include "record/event.h"

namespace kw::store {

struct EventLog {
  std::vector<record::Event> events;
  std::vector<int> unreadable;  // numbers of whole lines that are no events, from 1
  uint64_t sound_bytes = 0;     // up to the end of the last whole line
  uint64_t torn_bytes = 0;      // after that
};

EventLog parse_events(std::string_view text);
std::string event_line(const record::Event& event);

}  // namespace kw::store
