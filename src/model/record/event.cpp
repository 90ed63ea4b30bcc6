#include "record/event.h"

#include "core/json_reader.h"
#include "core/json_writer.h"

namespace kw::record {

void fields(auto& v, Event& e) {
  v("seconds", e.seconds, required)("kind", e.kind, required)("data", e.data);
}

Json to_json(const Event& event) {
  Json json = record_json(event);
  return event.data.is_null() ? json.set("data", Json::object()) : json;
}

Result<Event> event_from_json(const Json& json) {
  Result<Event> event = check_record<Event>(json);
  if (!event) return input_error("it is not an event: " + event.error().message);
  return event;
}

}  // namespace kw::record
