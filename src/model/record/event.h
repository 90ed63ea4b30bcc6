// An event during a job: the command line shows it, the store keeps it. It is data, not log text.
#pragma once

#include <string>

#include "core/json.h"
#include "core/result.h"

namespace kw::record {

struct Event {
  double seconds = 0;  // since the job started
  std::string kind;    // "stage", "added", "judged", "timed" …
  Json data;           // an object whose fields depend on the kind
};

Json to_json(const Event& event);
/// Input Error when it is not one of our events.
Result<Event> event_from_json(const Json& json);

}  // namespace kw::record
