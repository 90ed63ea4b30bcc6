// Something that happened while a job ran: shown by the command line, kept by the store. Not a log:
// every event is data.
#pragma once

#include <string>

#include "core/json.h"
#include "core/result.h"

namespace kw::record {

struct Event {
  double seconds = 0;  // since the job started
  std::string kind;    // "stage", "added", "judged", "timed" …
  Json data;           // an object; what is in it depends on the kind
};

Json to_json(const Event& event);
/// Blame::Input when it is not an event of ours.
Result<Event> event_from_json(const Json& json);

}  // namespace kw::record
