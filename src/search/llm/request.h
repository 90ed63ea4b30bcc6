// What is asked of a language model, in no vendor's words: system blocks, a conversation with tool
// calls and their results, tools, limits. Plain values; how each vendor writes them is wire_*.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace kw::llm {

/// Whether the provider is asked to keep everything up to here for later calls.
enum class Cache : uint8_t { No, Mark };

struct SystemBlock {
  std::string text;
  Cache cache = Cache::No;
};

/// A tool the model wants run.
struct ToolCall {
  std::string id;  // unique within a conversation
  std::string name;
  std::string arguments;    // the text as it came
  Json parsed;              // its value, an object; null when `parse_error` is set
  std::string parse_error;  // why `arguments` is no JSON object; "" = it is one
};

/// A call whose arguments are parsed here, "" standing for {}.
ToolCall make_tool_call(std::string id, std::string name, std::string arguments);

struct ToolResult {
  std::string call_id;
  std::string name;  // of the tool
  std::string content;
  bool failed = false;  // the tool could not do what it was asked
};

enum class Role : uint8_t { User, Assistant };

/// What only one model understands (signed thinking, encrypted reasoning) and must be handed back
/// unchanged; to others it is not sent. Clear it when the text or the calls of a message are
/// edited.
struct Opaque {
  std::string wire;  // format and model that wrote it
  std::string model;
  Json content;
};

/// One turn. A user's turn has results and/or text, an assistant's has text and/or calls.
struct Message {
  Role role = Role::User;
  std::string text;
  std::vector<ToolCall> calls;      // of an assistant
  std::vector<ToolResult> results;  // of a user; written before the text
  Cache cache = Cache::No;
  Opaque opaque = {};
};

Message user_message(std::string text);
Message results_message(std::vector<ToolResult> results);

struct Tool {
  std::string name;  // letters, digits, '_' and '-', at most 64
  std::string description;
  Json schema;  // JSON schema of an object
};

enum class Effort : uint8_t { Default, Low, Medium, High };

/// How much the model may think before it answers. Where a model takes only one of the two, it is
/// made from the other.
struct Reasoning {
  Effort effort = Effort::Default;
  int64_t budget_tokens = 0;  // 0 = none asked for

  bool asked() const { return effort != Effort::Default || budget_tokens > 0; }
};

struct Request {
  std::string model;  // the provider's own name for it
  std::vector<SystemBlock> system;
  std::vector<Message> messages;
  std::vector<Tool> tools;
  int64_t max_tokens = 8192;  // of the answer, thinking included
  std::optional<double> temperature;
  Reasoning reasoning;
  std::vector<std::string> stop;
  double timeout_seconds = 600;  // for the whole exchange
  std::string label;             // "codegen attempt 2": for ledgers and events, never sent
};

const char* effort_name(Effort effort);
/// Whether any block or message carries a cache mark.
bool has_cache_marks(const Request& request);
/// Nothing, or what no provider could accept: no messages, roles that do not alternate, results
/// without their call, calls without results, bad tool names, limits out of range.
Status check_request(const Request& request);
/// The most input tokens the request can possibly be: a token is at least one byte of what is sent.
int64_t most_input_tokens(const Request& request);

}  // namespace kw::llm
