#include "llm/wire.h"

#include <fmt/core.h>

#include <set>

#include "core/ascii.h"
#include "core/text.h"

namespace kw::llm {
namespace {

constexpr const Wire* kWires[] = {&kAnthropicWire, &kOpenAiChatWire, &kOpenAiResponsesWire,
                                  &kGeminiWire};
constexpr int64_t kLowBudget = 2048, kMediumBudget = 8192, kHighBudget = 24576;

}  // namespace

Assembler::~Assembler() = default;

const Wire* find_wire(const std::string& name) {
  for (const Wire* wire : kWires) {
    if (name == wire->name) return wire;
  }
  return nullptr;
}

std::vector<std::string> wire_names() {
  std::vector<std::string> names;
  for (const Wire* wire : kWires) names.emplace_back(wire->name);
  return names;
}

void tidy_calls(const Request& request, Reply& reply) {
  std::set<std::string> taken;
  for (const Message& message : request.messages) {
    for (const ToolCall& call : message.calls) taken.insert(call.id);
  }
  for (ToolCall& call : reply.calls) {
    std::string id = call.id.empty() ? "call" : call.id;
    for (int n = 2; !taken.insert(id).second; ++n)
      id = fmt::format("{}_{}", call.id.empty() ? "call" : call.id, n);
    call.id = id;
    for (char& c : call.name) {
      const bool plain = is_name_char(c) || c == '-';
      if (!plain) c = '_';
    }
    call.name = call.name.empty() ? "unnamed" : call.name.substr(0, 64);
  }
}

Failure invalid_reply(std::string message) {
  return Failure{.kind = FailureKind::InvalidReply, .message = std::move(message), .sent = true};
}

int64_t tokens_of(const Json& count) {
  constexpr int64_t kMost = int64_t{1} << 40, kImpossible = -(int64_t{1} << 50);
  const int64_t tokens = count.as_int();
  return tokens >= 0 && tokens <= kMost ? tokens : kImpossible;
}

Usage possible(const Usage& usage) {
  for (const int64_t tokens :
       {usage.input, usage.output, usage.cache_read, usage.cache_write, usage.reasoning})
    if (tokens < 0) return {};
  return usage;
}

std::optional<Failure> empty_reply(const Reply& reply) {
  const bool something = !trim(reply.text).empty() || !reply.calls.empty();
  if (something || (reply.stop != StopReason::End && reply.stop != StopReason::ToolUse))
    return std::nullopt;
  Failure failure = invalid_reply("the reply is empty");
  failure.usage = reply.usage;
  return failure;
}

std::string joined_system(const Request& request) {
  std::string text;
  for (const SystemBlock& block : request.system) {
    if (block.text.empty()) continue;
    if (!text.empty()) text += "\n\n";
    text += block.text;
  }
  return text;
}

Json arguments_object(const ToolCall& call) {
  if (call.parse_error.empty()) return call.parsed.is_object() ? call.parsed : Json::object();
  Json wrapped = Json::object();
  wrapped.set("invalid_json", call.arguments);
  return wrapped;
}

std::string arguments_text(const ToolCall& call) {
  if (!call.parse_error.empty()) return arguments_object(call).dump();
  return call.arguments.empty() ? "{}" : call.arguments;
}

const char* effort_of(const Reasoning& reasoning) {
  if (reasoning.effort != Effort::Default) return effort_name(reasoning.effort);
  if (reasoning.budget_tokens <= kLowBudget) return "low";
  return reasoning.budget_tokens <= kMediumBudget ? "medium" : "high";
}

int64_t budget_of(const Reasoning& reasoning) {
  if (reasoning.budget_tokens > 0) return reasoning.budget_tokens;
  if (reasoning.effort == Effort::Low) return kLowBudget;
  return reasoning.effort == Effort::Medium ? kMediumBudget : kHighBudget;
}

bool may_send_temperature(const Request& request, const WireTarget& target,
                          std::vector<std::string>& degraded) {
  if (!request.temperature) return false;
  if (target.model.temperature) return true;
  degraded.push_back("temperature: not sent: the model does not accept a temperature");
  return false;
}

}  // namespace kw::llm
