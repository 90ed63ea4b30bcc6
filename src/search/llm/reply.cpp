#include "llm/reply.h"

#include <iterator>

#include "core/text.h"

namespace kw::llm {
namespace {

struct KindRow {
  FailureKind kind;
  const char* name;
  Blame blame;
  bool passing;
};

// In the order of the enumeration.
constexpr KindRow kKinds[] = {
    {FailureKind::Auth, "authentication", Blame::Input, false},
    {FailureKind::Quota, "no credit", Blame::Environment, false},
    {FailureKind::NotFound, "not found", Blame::Input, false},
    {FailureKind::BadRequest, "request rejected", Blame::Environment, false},
    {FailureKind::TooLarge, "too large", Blame::Input, false},
    {FailureKind::RateLimited, "rate limited", Blame::Environment, true},
    {FailureKind::Overloaded, "overloaded", Blame::Environment, true},
    {FailureKind::Server, "server error", Blame::Environment, true},
    {FailureKind::Timeout, "timeout", Blame::Environment, true},
    {FailureKind::Network, "network", Blame::Environment, true},
    {FailureKind::CutOff, "reply cut off", Blame::Environment, true},
    {FailureKind::InvalidReply, "invalid reply", Blame::Environment, false},
    {FailureKind::Refused, "refused", Blame::Input, false},
    {FailureKind::Budget, "budget", Blame::Input, false},
    {FailureKind::Cancelled, "cancelled", Blame::Environment, false},
    {FailureKind::Unavailable, "unavailable", Blame::Environment, false},
};

constexpr const char* kStops[] = {"end", "tool_use", "length", "refusal", "other"};

const KindRow& row(FailureKind kind) { return kKinds[static_cast<size_t>(kind)]; }

}  // namespace

Message assistant_message(const Reply& reply) {
  Message message;
  message.role = MessageRole::Assistant;
  const bool nothing = trim(reply.text).empty() && reply.calls.empty();
  message.text = nothing ? "(no answer)" : reply.text;  // providers reject an empty turn
  message.calls = reply.calls;
  message.opaque = reply.opaque;
  return message;
}

Blame Failure::blame() const {
  // A request that was never sent was rejected by our own checks.
  return kind == FailureKind::BadRequest && !sent ? Blame::Bug : row(kind).blame;
}

bool Failure::passing() const { return row(kind).passing; }

Error Failure::error() const { return {blame(), std::string(failure_name(kind)) + ": " + message}; }

const char* failure_name(FailureKind kind) { return row(kind).name; }

std::optional<FailureKind> failure_kind(std::string_view name) {
  for (const KindRow& candidate : kKinds) {
    if (name == candidate.name) return candidate.kind;
  }
  return std::nullopt;
}

const char* stop_name(StopReason stop) { return kStops[static_cast<size_t>(stop)]; }

std::optional<StopReason> stop_reason(std::string_view name) {
  for (size_t i = 0; i < std::size(kStops); ++i) {
    if (name == kStops[i]) return static_cast<StopReason>(i);
  }
  return std::nullopt;
}

}  // namespace kw::llm
