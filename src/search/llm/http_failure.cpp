// Vendors report the same failure with different statuses, codes and messages: missing credit can
// be 400, 402 or 429. So two tables decide: words in the error body first, the status second. A
// status of 500 or more always wins over words, because then the server is at fault. One parser per
// vendor would be more exact, but servers that imitate a vendor's format mix the layouts. The cost:
// a failure with an unknown word is classified by its status alone.
#include "llm/http_failure.h"

#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <span>

#include "core/text.h"

namespace kw::llm {
namespace {

constexpr size_t kMostMessage = 1000;

/// These words decide over a status below 500; the first row that occurs wins.
struct WordRow {
  const char* word;  // in lower case, in code or message
  FailureKind kind;
};
constexpr WordRow kFailureWords[] = {
    {"insufficient_quota", FailureKind::Quota},
    {"billing_error", FailureKind::Quota},
    {"credit balance", FailureKind::Quota},
    {"api_key_invalid", FailureKind::Auth},
    {"api key not valid", FailureKind::Auth},
    {"authentication_error", FailureKind::Auth},
    {"invalid_api_key", FailureKind::Auth},
    {"permission_error", FailureKind::Auth},
    {"permission_denied", FailureKind::Auth},
    {"unauthenticated", FailureKind::Auth},
    {"context_length_exceeded", FailureKind::TooLarge},
    {"request_too_large", FailureKind::TooLarge},
    {"prompt is too long", FailureKind::TooLarge},
    {"maximum context length", FailureKind::TooLarge},
    {"exceeds the maximum number of tokens", FailureKind::TooLarge},
    {"content_policy_violation", FailureKind::Refused},
    {"content_filter", FailureKind::Refused},
    {"model_not_found", FailureKind::NotFound},
    {"not_found_error", FailureKind::NotFound},
    {"overloaded_error", FailureKind::Overloaded},
    {"rate_limit_error", FailureKind::RateLimited},
    {"rate_limit_exceeded", FailureKind::RateLimited},
    {"resource_exhausted", FailureKind::RateLimited},
};
// These words decide only when there is no status.
constexpr WordRow kGeneralWords[] = {
    {"invalid_request_error", FailureKind::BadRequest},
    {"invalid_argument", FailureKind::BadRequest},
    {"overloaded", FailureKind::Overloaded},
    {"unavailable", FailureKind::Overloaded},
};

struct StatusRow {
  int status;
  FailureKind kind;
};
constexpr StatusRow kStatuses[] = {
    {400, FailureKind::BadRequest}, {401, FailureKind::Auth},       {402, FailureKind::Quota},
    {403, FailureKind::Auth},       {404, FailureKind::NotFound},   {408, FailureKind::Timeout},
    {413, FailureKind::TooLarge},   {422, FailureKind::BadRequest}, {429, FailureKind::RateLimited},
    {503, FailureKind::Overloaded}, {504, FailureKind::Timeout},    {529, FailureKind::Overloaded},
};

std::optional<FailureKind> kind_of_words(const ErrorWords& words, std::span<const WordRow> rows) {
  const std::string text = lower_case(words.code + " " + words.message);
  for (const WordRow& row : rows) {
    if (text.find(row.word) != std::string::npos) return row.kind;
  }
  return std::nullopt;
}

FailureKind kind_of_status(int status) {
  for (const StatusRow& row : kStatuses) {
    if (row.status == status) return row.kind;
  }
  if (status >= 500) return FailureKind::Server;
  return status >= 400 ? FailureKind::BadRequest : FailureKind::InvalidReply;
}

/// One line, bounded, without control characters: it is shown in terminals and reports.
std::string tidy(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  }
  if (text.size() > kMostMessage) text = text.substr(0, kMostMessage) + "…";
  return std::string(trim(text));
}

/// A delay as Google writes it: "34s" or "1.5s".
std::optional<double> google_delay(const Json& body) {
  for (const Json& detail : body["error"]["details"].items()) {
    const std::string& delay = detail["retryDelay"].as_string();
    if (delay.empty() || delay.back() != 's') continue;
    return parse_double(delay.substr(0, delay.size() - 1));
  }
  return std::nullopt;
}

std::optional<double> http_date(const std::string& text) {
  struct tm parts {};
  const char* end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return static_cast<double>(::timegm(&parts));
}

}  // namespace

ErrorWords error_words(const Json& given) {
  const Json& body = given.is_array() && !given.items().empty() ? given.items()[0] : given;
  ErrorWords words;
  const Json& error = body["error"];
  const auto add = [&](const Json& code) {
    if (code.is_string()) words.code += (words.code.empty() ? "" : " ") + code.as_string();
  };
  if (error.is_object()) {
    for (const char* key : {"type", "code", "status"}) add(error[key]);
    for (const Json& detail : error["details"].items()) add(detail["reason"]);
    words.message = error["message"].as_string();
    return words;
  }
  for (const char* key : {"code", "type"}) add(body[key]);
  for (const char* key : {"error", "message", "detail"}) {
    if (!words.message.empty() || body[key].is_null()) continue;
    words.message = body[key].is_string() ? body[key].as_string() : body[key].dump();
  }
  return words;
}

std::optional<double> retry_after(const HttpReply& reply, double unix_time) {
  if (const auto ms = parse_double(reply.header("retry-after-ms")))
    return std::max(0.0, *ms / 1000);
  const std::string& value = reply.header("retry-after");
  if (const auto seconds = parse_double(value)) return std::max(0.0, *seconds);
  if (const auto date = http_date(value)) {
    const auto sent = http_date(reply.header("date"));
    return std::max(0.0, *date - sent.value_or(unix_time));
  }
  return std::nullopt;
}

std::string describe_body(const std::string& body) {
  const std::string_view text = trim(body);
  if (text.empty()) return "nothing";
  if (text.front() != '<') return fmt::format("text ('{}')", tidy(std::string(text.substr(0, 80))));
  const size_t open = lower_case(std::string(text)).find("<title>");
  if (open == std::string::npos) return "HTML";
  const std::string_view title = text.substr(open + 7);
  return fmt::format("HTML ('{}')",
                     tidy(std::string(title.substr(0, std::min<size_t>(title.find('<'), 80)))));
}

Failure failure_of_status(const HttpReply& reply, double unix_time) {
  Failure failure;
  failure.status = reply.status;
  failure.kind = kind_of_status(reply.status);
  failure.sent = true;
  failure.retry_after_seconds = retry_after(reply, unix_time);
  if (reply.status >= 300 && reply.status < 400) {
    failure.message = fmt::format(
        "HTTP {}: the server redirects to '{}'; redirects are not followed, because the key would "
        "be sent there too; change base_url",
        reply.status, tidy(reply.header("location")));
    return failure;
  }
  const auto body = Json::parse(reply.body);
  if (!body || !(body->is_object() || body->is_array())) {
    failure.message = fmt::format("HTTP {} with {}", reply.status, describe_body(reply.body));
    return failure;
  }
  const ErrorWords words = error_words(*body);
  // A status of 500 or more is the server's fault; below that the words decide.
  if (const auto kind = kind_of_words(words, kFailureWords); kind && reply.status < 500)
    failure.kind = *kind;
  if (!failure.retry_after_seconds) failure.retry_after_seconds = google_delay(*body);
  failure.message = fmt::format("HTTP {}: {}", reply.status,
                                words.message.empty() ? tidy(body->dump()) : tidy(words.message));
  return failure;
}

Failure failure_of_error(const Json& body) {
  const ErrorWords words = error_words(body);
  Failure failure;
  const auto kind = kind_of_words(words, kFailureWords);
  failure.kind = kind ? *kind : kind_of_words(words, kGeneralWords).value_or(FailureKind::Server);
  failure.sent = true;
  failure.message = tidy(words.message.empty() ? words.code : words.message);
  return failure;
}

Failure failure_of_problem(const HttpOutcome& outcome, const std::string& host) {
  Failure failure;
  failure.status = outcome.reply.status;
  failure.sent = outcome.sent;
  failure.message = fmt::format("{}: {}", host, tidy(outcome.detail));
  switch (outcome.problem) {
    case HttpProblem::NoLibrary:
      failure.kind = FailureKind::Unavailable;
      failure.message = outcome.detail;
      break;
    case HttpProblem::BadUrl:
      failure.kind = FailureKind::NotFound;
      break;
    case HttpProblem::Timeout:
      failure.kind = FailureKind::Timeout;
      break;
    case HttpProblem::CutOff:
      failure.kind = FailureKind::CutOff;
      break;
    case HttpProblem::Tls:
      failure.kind = FailureKind::Unavailable;
      failure.message += " (certificates to trust can be given as ca_file in providers.toml)";
      break;
    case HttpProblem::TooLarge:
      failure.kind = FailureKind::InvalidReply;
      break;
    case HttpProblem::Cancelled:
      failure.kind = FailureKind::Cancelled;
      failure.message = "stopped by the user";
      break;
    case HttpProblem::None:
    case HttpProblem::Connect:
    case HttpProblem::Other:
      failure.kind = FailureKind::Network;
      break;
  }
  return failure;
}

}  // namespace kw::llm
