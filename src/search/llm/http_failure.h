// What an HTTP answer that is no reply means: status codes, error bodies of all vendors,
// Retry-After.
#pragma once

#include <optional>
#include <string>

#include "core/json.h"
#include "llm/http.h"
#include "llm/reply.h"

namespace kw::llm {

/// The vendor's own words in an error body: all the shapes that are in use.
struct ErrorWords {
  std::string
      code;  // "rate_limit_error insufficient_quota RESOURCE_EXHAUSTED …", whatever there is
  std::string message;
};
ErrorWords error_words(const Json& body);

/// From the head and the body (JSON, HTML, anything) of an answer with a status that is not 200.
Failure failure_of_status(const HttpReply& reply, double unix_time);
/// From an error inside a stream or a body with status 200.
Failure failure_of_error(const Json& body);
/// From a transfer that did not end well.
Failure failure_of_problem(const HttpOutcome& outcome, const std::string& host);

/// Seconds: a number, or a date seen from `unix_time`; nothing when it is neither.
std::optional<double> retry_after(const HttpReply& reply, double unix_time);
/// What a body that is no JSON looks like: "HTML ('502 Bad Gateway')", "empty", "text ('…')".
std::string body_sight(const std::string& body);

}  // namespace kw::llm
