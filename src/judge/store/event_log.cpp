#include "store/event_log.h"

#include "os/files.h"

namespace kw::store {

namespace {

Result<record::Event> parse_line(std::string_view line) {
  const Json json = KW_TRY(Json::parse(line));
  return record::event_from_json(json);
}

}  // namespace

EventLog parse_events(std::string_view text) {
  EventLog log;
  int number = 0;
  size_t at = 0;
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', at)) {
    ++number;
    Result<record::Event> event = parse_line(text.substr(at, end - at));
    if (event) {
      log.events.push_back(std::move(event).value());
    } else {
      log.unreadable.push_back(number);
    }
    at = end + 1;
  }
  log.sound_bytes = at;
  log.torn_bytes = text.size() - at;
  return log;
}

std::string event_line(const record::Event& event) { return to_json(event).dump() + "\n"; }

}  // namespace kw::store
