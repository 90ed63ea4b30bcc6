#include "record/event.h"

namespace kw::record {

Json to_json(const Event& event) {
  Json json = Json::object();
  json.set("seconds", event.seconds).set("kind", event.kind);
  return json.set("data", event.data.is_null() ? Json::object() : event.data);
}

Result<Event> event_from_json(const Json& json) {
  if (!json["seconds"].is_number() || !json["kind"].is_string()) {
    return input_error("it is not an event: 'seconds' and 'kind' are missing");
  }
  return Event{json["seconds"].as_double(), json["kind"].as_string(), json["data"]};
}

}  // namespace kw::record
