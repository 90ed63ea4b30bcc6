// What came back from a language model: a reply, or a typed failure that says who must act, whether
// asking again can help, and what the attempt may have cost.
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

/// Other = something this program has no name for; the vendor's word is in Reply::stop_word.
enum class StopReason : uint8_t { End, ToolUse, Length, Refusal, Other };

struct Usage {
  bool known = false;  // false: the provider did not say; the numbers are then 0 and mean nothing
  int64_t input = 0;   // neither read from nor written to a cache
  int64_t output = 0;  // everything generated, reasoning included
  int64_t cache_read = 0;
  int64_t cache_write = 0;
  int64_t reasoning = 0;  // the part of `output` spent on thinking

  int64_t total() const { return input + output + cache_read + cache_write; }
};

struct Reply {
  std::string text;
  std::vector<ToolCall> calls;
  StopReason stop = StopReason::End;
  std::string stop_word;  // as the vendor said it
  Usage usage;
  std::string provider;
  std::string model;  // the one that answered
  std::string request_id;
  double latency_seconds = 0;
  std::vector<std::string> degraded;  // what was asked for and could not be had, and what was done
  Opaque opaque;
};

/// The assistant's turn that continues a conversation after this reply.
Message assistant_message(const Reply& reply);

enum class FailureKind : uint8_t {
  Auth,         // no key, a wrong one, or one that may not do this
  Quota,        // the account has no credit left
  NotFound,     // no such model or no such address
  BadRequest,   // the provider rejects what was sent; not sent: we do
  TooLarge,     // more than the model or the provider takes
  RateLimited,  // too many requests or tokens per minute
  Overloaded,   // the provider has no capacity now
  Server,       // the provider failed
  Timeout,
  Network,       // no connection: name, route, proxy
  CutOff,        // the reply began and did not end
  InvalidReply,  // it ended and cannot be understood: HTML, broken JSON, no answer inside, too big
  Refused,       // the provider will not show this prompt to the model
  Budget,        // not sent: it could exceed what may be spent
  Cancelled,     // stopped by the user
  Unavailable,   // not sent: no libcurl, program, trusted certificate or cassette entry
};

struct Failure {
  FailureKind kind = FailureKind::Server;
  std::string message;
  std::optional<double> retry_after_seconds = std::nullopt;
  int status = 0;  // of HTTP; 0 = none
  std::string request_id = {};
  Usage usage = {};   // known when tokens were counted before it failed
  int attempts = 1;   // after retries
  bool sent = false;  // the provider saw the request, so it may be charged for
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
