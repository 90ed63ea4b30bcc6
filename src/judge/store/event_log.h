// events.jsonl: one event per line, append only. A process that dies while appending leaves a torn
// last line. Readers ignore it and the next writer removes it. Internal to store.
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
  std::vector<int> unreadable;  // numbers (from 1) of complete lines that are not events
  uint64_t sound_bytes = 0;     // up to the end of the last complete line
  uint64_t torn_bytes = 0;      // after that
};

EventLog parse_events(std::string_view text);
std::string event_line(const record::Event& event);

}  // namespace kw::store
