// Requests and outcomes as JSON, for cassettes, transcripts and ledgers. They contain no key,
// because a Request and an Outcome have none.
#pragma once

#include <string>

#include "core/json.h"
#include "llm/reply.h"
#include "llm/request.h"

namespace kw::llm {

/// Everything that is sent, so not the label or the timeout. Equal requests give equal texts.
Json to_json(const Request& request);
Json to_json(const Usage& usage);
/// The inverse; null is an unknown usage.
bool from_json(const Json& json, Usage& usage);
Json to_json(const Outcome& outcome);
Result<Outcome> outcome_from_json(const Json& json);

/// The first difference: "messages[2].text: byte 140: recorded '…', now '…'"; "": equal.
std::string first_difference(const Json& recorded, const Json& now);

}  // namespace kw::llm
