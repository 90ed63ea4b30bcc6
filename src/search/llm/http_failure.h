// Turns HTTP errors into failures: status codes, error bodies of all vendors, Retry-After.
#pragma once

#include <optional>
#include <string>

#include "core/json.h"
#include "llm/http.h"
#include "llm/reply.h"

namespace kw::llm {

/// The vendor's code and message from an error body; reads all the layouts in use.
struct ErrorWords {
  std::string
      code;  // "rate_limit_error insufficient_quota RESOURCE_EXHAUSTED …": all that are present
  std::string message;
};
ErrorWords error_words(const Json& body);

/// From the headers and the body (JSON, HTML, any text) of a reply whose status is not 200.
Failure failure_of_status(const HttpReply& reply, double unix_time);
/// From an error inside a stream or inside a body with status 200.
Failure failure_of_error(const Json& body);
/// From a transfer that failed.
Failure failure_of_problem(const HttpOutcome& outcome, const std::string& host);

/// Seconds, from a number or from a date relative to `unix_time`; not set when it is neither.
std::optional<double> retry_after(const HttpReply& reply, double unix_time);
/// A description of a body that is not JSON: "HTML ('502 Bad Gateway')", "nothing", "text ('…')".
std::string describe_body(const std::string& body);

}  // namespace kw::llm
