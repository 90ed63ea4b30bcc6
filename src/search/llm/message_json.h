// Requests and outcomes as JSON, for cassettes, transcripts and ledgers. No key can be in them:
// they are made of what a Request and an Outcome hold.
#pragma once

#include <string>

#include "core/json.h"
#include "llm/reply.h"
#include "llm/request.h"

namespace kw::llm {

/// All that is sent (so neither label nor timeout). Equal requests give equal texts.
Json to_json(const Request& request);
Json to_json(const Usage& usage);
/// The way back; null is a usage that is not known.
Usage usage_from_json(const Json& json);
Json to_json(const Outcome& outcome);
Result<Outcome> outcome_from_json(const Json& json);

/// Where two values differ first: "messages[2].text: byte 140: recorded '…', now '…'"; "" = equal.
std::string first_difference(const Json& recorded, const Json& now);

}  // namespace kw::llm
