#include "store/event_log.h"

#include "os/files.h"

namespace kw::store {

namespace {

/// Whether a session found at its start that events were lost.
bool tells_loss(const record::Event& event) {
  return event.kind == "opened" &&
         (event.data["lost_events"].as_bool() || event.data["lost_signed_bytes"].as_int() > 0);
}

}  // namespace

EventLog parse_events(std::string_view text, Chain& chain) {
  EventLog log;
  int number = 0;
  size_t at = 0;
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', at)) {
    ++number;
    const std::string_view line = text.substr(at, end - at);
    const Result<Json> json = Json::parse(line);
    const Proof proof = chain.follow(line, json ? *json : Json());
    Result<record::Event> event = record::event_from_json(json ? *json : Json());
    if (!event) log.unreadable.push_back(number);
    if (event && proof == Proof::Broken) log.broken.push_back(number);
    if (proof == Proof::Broken || (event && tells_loss(*event))) log.certain = log.events.size();
    if (event && proof != Proof::Broken) {
      log.events.push_back(std::move(event).value());
      log.proofs.push_back(proof);
    }
    at = end + 1;
  }
  log.sound_bytes = at;
  log.torn_bytes = text.size() - at;
  return log;
}

}  // namespace kw::store
