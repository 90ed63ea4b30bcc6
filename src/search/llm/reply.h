// The outcome of asking a model: a reply or a typed failure. A failure tells who must act, whether
// a retry can help, and whether the attempt may have cost money.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/result.h"
#include "llm/request.h"

namespace kw::llm {

/// Other: none of the known reasons; the vendor's word is in Reply::stop_word.
enum class StopReason : uint8_t { End, ToolUse, Length, Refusal, Other };

struct Usage {
  bool known = false;  // false: the provider reported none; the numbers are 0 and meaningless
  int64_t input = 0;   // neither read from nor written to a cache
  int64_t output = 0;  // all generated tokens, reasoning included
  int64_t cache_read = 0;
  int64_t cache_write = 0;
  int64_t reasoning = 0;  // the part of `output` spent on reasoning

  int64_t total() const { return input + output + cache_read + cache_write; }
};

struct Reply {
  std::string text;
  std::vector<ToolCall> calls;
  StopReason stop = StopReason::End;
  std::string stop_word;  // the vendor's own word
  Usage usage;
  std::string provider;
  std::string model;  // the model that answered
  std::string request_id;
  double latency_seconds = 0;
  std::vector<std::string> degraded;  // requested features that were replaced or dropped
  Opaque opaque;
};

/// The assistant's turn that continues a conversation after this reply.
Message assistant_message(const Reply& reply);

enum class FailureKind : uint8_t {
  Auth,         // no key, a wrong key, or a key without the permission
  Quota,        // the account has no credit left
  NotFound,     // unknown model or address
  BadRequest,   // the provider rejected the request; if not sent: we did
  TooLarge,     // more than the model or the provider accepts
  RateLimited,  // too many requests or tokens per minute
  Overloaded,   // the provider has no capacity now
  Server,       // the provider failed
  Timeout,
  Network,       // no connection: name, route, proxy
  CutOff,        // the reply began and did not end
  InvalidReply,  // complete but not usable: HTML, broken JSON, no answer, too large
  Refused,       // the provider refused to pass the prompt to the model
  Budget,        // not sent: it could exceed the budget
  Cancelled,     // stopped by the user
  Unavailable,   // not sent: no libcurl, program, trusted certificate or cassette entry
};

struct Failure {
  FailureKind kind = FailureKind::Server;
  std::string message;
  std::optional<double> retry_after_seconds = std::nullopt;
  int status = 0;  // of HTTP; 0: none
  std::string request_id = {};
  Usage usage = {};   // known when the provider reported tokens before the failure
  int attempts = 1;   // number of attempts, with retries
  bool sent = false;  // the provider saw the request, so it may charge for it
  double latency_seconds = 0;

  Blame blame() const;
  /// Whether the same request may succeed a little later.
  bool passing() const;
  /// "rate limited: …" with its blame.
  Error error() const;
};

const char* failure_name(FailureKind kind);  // "rate limited"
std::optional<FailureKind> failure_kind(std::string_view name);
const char* stop_name(StopReason stop);  // "tool_use"
std::optional<StopReason> stop_reason(std::string_view name);

/// A reply or a failure.
class [[nodiscard]] Outcome {
 public:
  Outcome(Reply reply) : v_(std::move(reply)) {}
  Outcome(Failure failure) : v_(std::move(failure)) {}

  explicit operator bool() const { return v_.index() == 0; }
  const Reply& operator*() const { return std::get<Reply>(v_); }
  Reply& operator*() { return std::get<Reply>(v_); }
  const Reply* operator->() const { return &std::get<Reply>(v_); }
  Reply* operator->() { return &std::get<Reply>(v_); }
  const Failure& failure() const { return std::get<Failure>(v_); }
  Failure& failure() { return std::get<Failure>(v_); }

 private:
  std::variant<Reply, Failure> v_;
};

}  // namespace kw::llm
