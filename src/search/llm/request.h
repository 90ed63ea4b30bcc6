// A request to a model, independent of vendors: system blocks, a conversation with tool calls and
// results, tools, limits. The wire_*.cpp sources write it in each vendor's format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace kw::llm {

/// Mark: the provider should cache everything up to here for later calls.
enum class Cache : uint8_t { No, Mark };

struct SystemBlock {
  std::string text;
  Cache cache = Cache::No;
};

/// A tool that the model asks to run.
struct ToolCall {
  std::string id;  // unique within a conversation
  std::string name;
  std::string arguments;    // the text as received
  Json parsed;              // its value, an object; null when `parse_error` is set
  std::string parse_error;  // why `arguments` is not a JSON object; "": it is one
};

/// Parses the arguments; "" means {}.
ToolCall make_tool_call(std::string id, std::string name, std::string arguments);

struct ToolResult {
  std::string call_id;
  std::string name;  // of the tool
  std::string content;
  bool failed = false;  // the tool could not do what was asked
};

enum class MessageRole : uint8_t { User, Assistant };

/// Data that only one model understands (signed thinking, encrypted reasoning) and that must be
/// sent back unchanged. It is not sent to other models. Clear it when you edit the text or the
/// calls of a message.
struct Opaque {
  std::string wire;  // the format that wrote it
  std::string model;
  Json content;
};

/// One turn. A user's turn has results and/or text, an assistant's has text and/or calls.
struct Message {
  MessageRole role = MessageRole::User;
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

/// How much the model may think before it answers. If a model takes only one of the two values, it
/// is derived from the other.
struct Reasoning {
  Effort effort = Effort::Default;
  int64_t budget_tokens = 0;  // 0: not set

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
  int64_t reservation = 0;       // the row of the ledger that it settles; 0: none
};

const char* effort_name(Effort effort);
/// Whether any block or message has a cache mark.
bool has_cache_marks(const Request& request);
/// The Error: a request that no provider accepts. No messages, roles that do not alternate, results
/// without calls, calls without results, bad tool names, limits out of range.
Status check_request(const Request& request);
/// An upper limit of the input tokens: a token is at least one byte of what is sent.
int64_t most_input_tokens(const Request& request);

}  // namespace kw::llm
