#include "stages/ports.h"

namespace kw::stages {

Json to_json(const Attempt& attempt) {
  Json json = Json::object();
  json.set("stage", attempt.stage).set("attempt", attempt.number);
  json.set("escalated", attempt.escalated).set("model", attempt.model);
  json.set("candidate", attempt.candidate.empty() ? Json() : Json(attempt.candidate));
  json.set("succeeded", attempt.succeeded).set("outcome", attempt.outcome);
  return json.set("us", attempt.us > 0 ? Json(attempt.us) : Json());
}

Attempt attempt_from_json(const Json& json) {
  Attempt attempt;
  attempt.stage = json["stage"].as_string();
  attempt.number = static_cast<int>(json["attempt"].as_int());
  attempt.escalated = json["escalated"].as_bool();
  attempt.model = json["model"].as_string();
  attempt.candidate = json["candidate"].as_string();
  attempt.succeeded = json["succeeded"].as_bool();
  attempt.outcome = json["outcome"].as_string();
  attempt.us = json["us"].as_double();
  return attempt;
}

}  // namespace kw::stages
