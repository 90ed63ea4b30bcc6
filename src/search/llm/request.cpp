// What every provider requires of a request, checked before it is sent. Vendors accept different
// conversations, so the rules are the intersection: turns alternate and begin with the user's,
// every call has a result, in the same order. A request that passes is valid in all four formats.
// Leaving the checks to the vendors would give a different error message for each. The upper limit
// of input tokens counts each byte as a token. An exact count would need the tokenizer of each
// model. The cost: a budget refuses some calls that would have fitted.
#include "llm/request.h"

#include <algorithm>
#include <set>

#include "core/ascii.h"
#include "core/text.h"

namespace kw::llm {
namespace {

// More than any provider adds to a request itself (tool instructions, role marks).
constexpr int64_t kHiddenTokens = 1024;
constexpr int64_t kTokensPerPart = 16;

bool is_tool_name(const std::string& name) {
  if (name.empty() || name.size() > 64) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return is_name_char(c) || c == '-';
  });
}

Status check_tools(const Request& request) {
  std::set<std::string> seen;
  for (const Tool& tool : request.tools) {
    if (!is_tool_name(tool.name)) return input_error("'{}' is not a name for a tool", tool.name);
    if (!seen.insert(tool.name).second) return input_error("two tools are named '{}'", tool.name);
    if (tool.schema["type"].as_string() != "object")
      return input_error("the schema of tool '{}' is not that of an object", tool.name);
  }
  return Done{};
}

/// The next turn must have the results of an assistant's calls, in their order. One format tells
/// results apart only by their order.
Status check_results(const Message& asked, const Message& answer) {
  for (size_t i = 0; i < asked.calls.size(); ++i) {
    if (i >= answer.results.size())
      return input_error("the tool call '{}' has no result", asked.calls[i].id);
    if (answer.results[i].call_id != asked.calls[i].id) {
      return input_error("tool result {} answers '{}', but call {} is '{}'", i,
                         answer.results[i].call_id, i, asked.calls[i].id);
    }
  }
  if (answer.results.size() > asked.calls.size()) {
    return input_error("a tool result answers '{}', which was not called",
                       answer.results[asked.calls.size()].call_id);
  }
  return Done{};
}

Status check_call_ids(const Request& request) {
  std::set<std::string> seen;
  for (const Message& message : request.messages) {
    for (const ToolCall& call : message.calls) {
      if (!seen.insert(call.id).second)
        return input_error("two tool calls have the id '{}'", call.id);
    }
  }
  if (!seen.empty() && request.tools.empty())
    return input_error("the conversation holds tool calls, but no tools are given");
  return Done{};
}

Status check_message(const Request& request, size_t at) {
  const Message& message = request.messages[at];
  const bool user = at % 2 == 0;
  if ((message.role == MessageRole::User) != user)
    return input_error("turns must alternate, beginning with the user's");
  if (trim(message.text).empty() && message.calls.empty() && message.results.empty())
    return input_error("message {} is empty", at);
  if (user && !message.calls.empty()) return input_error("a user's turn cannot call tools");
  if (!user && !message.results.empty())
    return input_error("an assistant's turn cannot carry tool results");
  if (user && at == 0 && !message.results.empty())
    return input_error("a tool result comes before any call");
  return user ? Status(Done{}) : check_results(message, request.messages[at + 1]);
}

}  // namespace

ToolCall make_tool_call(std::string id, std::string name, std::string arguments) {
  ToolCall call{std::move(id), std::move(name), std::move(arguments), Json(), ""};
  auto parsed = Json::parse(call.arguments.empty() ? "{}" : call.arguments);
  if (!parsed) {
    call.parse_error = parsed.error().message;
  } else if (!parsed->is_object()) {
    call.parse_error = "the arguments are not a JSON object";
  } else {
    call.parsed = std::move(parsed).value();
  }
  return call;
}

Message user_message(std::string text) {
  Message message;
  message.text = std::move(text);
  return message;
}

Message results_message(std::vector<ToolResult> results) {
  Message message;
  message.results = std::move(results);
  return message;
}

const char* effort_name(Effort effort) {
  constexpr const char* kNames[] = {"default", "low", "medium", "high"};
  return kNames[static_cast<size_t>(effort)];
}

bool has_cache_marks(const Request& request) {
  const auto marked = [](const auto& part) { return part.cache == Cache::Mark; };
  return std::any_of(request.system.begin(), request.system.end(), marked) ||
         std::any_of(request.messages.begin(), request.messages.end(), marked);
}

Status check_request(const Request& request) {
  if (request.model.empty()) return input_error("no model is named");
  if (request.messages.empty()) return input_error("there is no message");
  if (request.max_tokens < 1) return input_error("max_tokens must be at least 1");
  if (request.temperature && !(*request.temperature >= 0 && *request.temperature <= 2))
    return input_error("temperature must be between 0 and 2");
  if (request.messages.back().role != MessageRole::User)
    return input_error("the last turn must be the user's");
  KW_TRY(check_tools(request));
  KW_TRY(check_call_ids(request));
  for (size_t i = 0; i < request.messages.size(); ++i) KW_TRY(check_message(request, i));
  return Done{};
}

int64_t most_input_tokens(const Request& request) {
  int64_t bytes = 0;
  int64_t parts = 0;
  const auto add = [&](const std::string& text) {
    bytes += static_cast<int64_t>(text.size());
    ++parts;
  };
  for (const SystemBlock& block : request.system) add(block.text);
  for (const Message& message : request.messages) {
    add(message.text);
    for (const ToolCall& call : message.calls) add(call.id + call.name + call.arguments);
    for (const ToolResult& result : message.results)
      add(result.call_id + result.name + result.content);
    if (!message.opaque.content.is_null()) add(message.opaque.content.dump());
  }
  for (const Tool& tool : request.tools) add(tool.name + tool.description + tool.schema.dump());
  return bytes + parts * kTokensPerPart + kHiddenTokens;
}

}  // namespace kw::llm
