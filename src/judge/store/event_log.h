// events.jsonl: one event per line, append only. A process that dies while appending leaves a torn
// last line. Readers ignore it and the next writer removes it. Internal to store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "os/disk.h"
#include "record/event.h"
#include "store/chain.h"

namespace kw::store {

struct EventLog {
  std::vector<record::Event> events;
  std::vector<Proof> proofs;    // of each event
  std::vector<int> broken;      // numbers (from 1) of lines that are not what their session wrote
  size_t certain = 0;           // events before this one were followed by broken or lost ones
  std::vector<int> unreadable;  // numbers (from 1) of complete lines that are not events
  uint64_t sound_bytes = 0;     // up to the end of the last complete line
  uint64_t torn_bytes = 0;      // after that
};

/// `chain` is new; afterwards its next line follows the last sound one.
EventLog parse_events(std::string_view text, Chain& chain);

}  // namespace kw::store
