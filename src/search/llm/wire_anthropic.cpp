// Anthropic's Messages format, version 2023-06-01. Three of its rules need care. At most four cache
// marks are allowed; the last four are sent, because later marks cover more. Signed thinking must
// come back unchanged, so the content blocks are kept in Reply::opaque. A turn with calls must
// begin with thinking when thinking is on, so thinking is left out after calls that were made
// without it. Dropping all thinking blocks would be simpler, but the vendor rejects calls without
// them. The cost: each such reply is stored twice, as text and as blocks.
#include "llm/wire.h"

#include <algorithm>
#include <map>

#include "core/json_writer.h"
#include "core/text.h"

namespace kw::llm {
namespace {

constexpr const char* kName = "anthropic";
constexpr int kMostMarks = 4;
constexpr int64_t kLeastThinking = 1024;

Json text_block(const std::string& text) {
  return Json(Json::Object{{"type", "text"}, {"text", text}});
}

void mark(Json& block) { block.set("cache_control", Json(Json::Object{{"type", "ephemeral"}})); }

/// Which marks are sent: the last four, because later ones cover more.
class Marks {
 public:
  Marks(const Request& request, const WireTarget& target, std::vector<std::string>& degraded) {
    int count = 0;
    for (const SystemBlock& block : request.system) count += block.cache == Cache::Mark;
    for (const Message& message : request.messages) count += message.cache == Cache::Mark;
    skip_ = target.row.caching == Caching::Marks ? std::max(0, count - kMostMarks) : count;
    if (target.row.caching == Caching::Marks && skip_ > 0)
      degraded.push_back("prompt_caching: more than 4 marks; only the last 4 are sent");
  }
  void apply(Cache cache, Json& block) {
    if (cache != Cache::Mark) return;
    if (skip_ > 0) {
      --skip_;
      return;
    }
    mark(block);
  }

 private:
  int skip_ = 0;
};

Json assistant_blocks(const Message& message) {
  if (message.opaque.wire == kName) return message.opaque.content;
  Json blocks = Json::array();
  if (!trim(message.text).empty()) blocks.push(text_block(message.text));
  for (const ToolCall& call : message.calls) {
    blocks.push(Json(Json::Object{{"type", "tool_use"},
                                  {"id", call.id},
                                  {"name", call.name},
                                  {"input", arguments_object(call)}}));
  }
  return blocks;
}

Json user_blocks(const Message& message) {
  Json blocks = Json::array();
  for (const ToolResult& result : message.results) {
    Json block(Json::Object{{"type", "tool_result"},
                            {"tool_use_id", result.call_id},
                            {"content", result.content.empty() ? "(no output)" : result.content}});
    if (result.failed) block.set("is_error", true);
    blocks.push(std::move(block));
  }
  if (!message.text.empty()) blocks.push(text_block(message.text));
  return blocks;
}

Json messages_json(const Request& request, Marks& marks) {
  Json messages = Json::array();
  for (const Message& message : request.messages) {
    const bool user = message.role == MessageRole::User;
    Json::Array blocks = (user ? user_blocks(message) : assistant_blocks(message)).items();
    if (!blocks.empty()) marks.apply(message.cache, blocks.back());
    messages.push(
        Json(Json::Object{{"role", user ? "user" : "assistant"}, {"content", Json(blocks)}}));
  }
  return messages;
}

Json tools_json(const Request& request) {
  Json tools = Json::array();
  for (const Tool& tool : request.tools) {
    tools.push(Json(Json::Object{
        {"name", tool.name}, {"description", tool.description}, {"input_schema", tool.schema}}));
  }
  return tools;
}

/// With thinking on, a turn that calls tools must begin with thinking. The calls of other models,
/// and calls made without thinking, cannot fulfil this.
bool calls_without_thinking(const Request& request) {
  for (auto turn = request.messages.rbegin(); turn != request.messages.rend(); ++turn) {
    if (turn->role == MessageRole::Assistant)
      return !turn->calls.empty() && turn->opaque.wire != kName;
  }
  return false;
}

void add_thinking(const Request& request, const WireTarget& target, Json& body,
                  std::vector<std::string>& degraded) {
  if (!request.reasoning.asked()) return;
  if (target.model.thinking == Thinking::Budget && calls_without_thinking(request)) {
    degraded.push_back("reasoning: not sent: the conversation contains another model's calls");
  } else if (target.model.thinking == Thinking::Budget) {
    const int64_t most = request.max_tokens - 1;
    if (most < kLeastThinking) {
      degraded.push_back("reasoning: max_tokens leaves no room for thinking; left out");
      return;
    }
    const int64_t budget = std::clamp(budget_of(request.reasoning), kLeastThinking, most);
    body.set("thinking", Json(Json::Object{{"type", "enabled"}, {"budget_tokens", budget}}));
  } else if (target.model.thinking == Thinking::Adaptive) {
    body.set("thinking", Json(Json::Object{{"type", "adaptive"}}));
    body.set("output_config", Json(Json::Object{{"effort", effort_of(request.reasoning)}}));
  } else {
    degraded.push_back("reasoning: not sent: the model does not support reasoning");
  }
}

Json write_body(const Request& request, const WireTarget& target,
                std::vector<std::string>& degraded) {
  Marks marks(request, target, degraded);
  Json body = Json::object();
  body.set("model", request.model).set("max_tokens", request.max_tokens);
  Json system = Json::array();
  for (const SystemBlock& block : request.system) {
    if (block.text.empty()) continue;
    Json written = text_block(block.text);
    marks.apply(block.cache, written);
    system.push(std::move(written));
  }
  if (!system.items().empty()) body.set("system", std::move(system));
  body.set("messages", messages_json(request, marks));
  if (!request.tools.empty()) body.set("tools", tools_json(request));
  add_thinking(request, target, body, degraded);
  if (may_send_temperature(request, target, degraded)) {
    if (body.contains("thinking")) {
      degraded.push_back("temperature: not together with thinking; left out");
    } else {
      body.set("temperature", std::min(1.0, *request.temperature));
    }
  }
  if (!request.stop.empty()) {
    body.set("stop_sequences", json_of(request.stop));
  }
  if (target.streaming == Streaming::Yes) body.set("stream", true);
  return body;
}

StopReason stop_of(const std::string& word) {
  if (word == "end_turn" || word == "stop_sequence") return StopReason::End;
  if (word == "tool_use") return StopReason::ToolUse;
  if (word == "max_tokens" || word == "model_context_window_exceeded") return StopReason::Length;
  return word == "refusal" ? StopReason::Refusal : StopReason::Other;
}

Usage usage_of(const Json& usage) {
  return possible({.known = usage["output_tokens"].is_int() || usage["input_tokens"].is_int(),
                   .input = tokens_of(usage["input_tokens"]),
                   .output = tokens_of(usage["output_tokens"]),
                   .cache_read = tokens_of(usage["cache_read_input_tokens"]),
                   .cache_write = tokens_of(usage["cache_creation_input_tokens"])});
}

/// "input_text" is our own member: the arguments as the stream sent them.
ToolCall call_of(const Json& block) {
  const bool spelled = block["input_text"].is_string();
  return make_tool_call(block["id"].as_string(), block["name"].as_string(),
                        spelled ? block["input_text"].as_string() : block["input"].dump());
}

/// The content to send back, when it has signed thinking; otherwise empty.
Opaque opaque_of(const Json& content, const Reply& reply) {
  bool thinking = false;
  Json kept = Json::array();
  size_t call = 0;
  for (const Json& block : content.items()) {
    const std::string& type = block["type"].as_string();
    thinking |= type == "thinking" || type == "redacted_thinking";
    if (type == "text" && trim(block["text"].as_string()).empty()) continue;  // vendor rejects it
    Json copy = Json::object();
    for (const auto& [key, value] : block.members()) {
      if (key != "input_text" && key != "input") copy.set(key, value);
    }
    if (type == "tool_use") copy.set("input", arguments_object(reply.calls[call++]));
    kept.push(std::move(copy));
  }
  return thinking ? Opaque{kName, "", std::move(kept)} : Opaque{};
}

Outcome read_body(const Json& body) {
  if (!body["content"].is_array() || !body["stop_reason"].is_string())
    return invalid_reply("the reply has no content and no stop_reason");
  Reply reply;
  for (const Json& block : body["content"].items()) {
    const std::string& type = block["type"].as_string();
    if (type == "text") reply.text += block["text"].as_string();
    if (type == "tool_use") reply.calls.push_back(call_of(block));
  }
  reply.stop_word = body["stop_reason"].as_string();
  reply.stop = stop_of(reply.stop_word);
  reply.usage = usage_of(body["usage"]);
  reply.model = body["model"].as_string();
  if (auto failure = empty_reply(reply)) return *failure;
  reply.opaque = opaque_of(body["content"], reply);
  return reply;
}

class AnthropicAssembler : public Assembler {
 public:
  std::string take(const SseEvent&, const Json& data) override {
    const std::string& type = data["type"].as_string();
    if (type == "message_start") body_ = data["message"];
    if (type == "content_block_start") blocks_[data["index"].as_int()] = data["content_block"];
    if (type == "content_block_delta") return take_delta(data["index"].as_int(), data["delta"]);
    if (type == "message_delta") take_end(data);
    if (type == "message_stop") finished_ = true;
    if (type == "error") body_.set("error", data["error"]);
    return "";
  }
  bool finished() const override { return finished_; }
  Json body() const override {
    Json body = body_.is_object() ? body_ : Json::object();
    Json content = Json::array();
    for (const auto& [index, block] : blocks_) content.push(block);
    body.set("content", std::move(content));
    return body;
  }

 private:
  std::string take_delta(int64_t index, const Json& delta) {
    Json& block = blocks_[index];
    const std::string& type = delta["type"].as_string();
    const auto append = [&](const char* key, const Json& more) {
      block.set(key, block[key].as_string() + more.as_string());
    };
    if (type == "text_delta") append("text", delta["text"]);
    if (type == "thinking_delta") append("thinking", delta["thinking"]);
    if (type == "signature_delta") append("signature", delta["signature"]);
    if (type == "input_json_delta") append("input_text", delta["partial_json"]);
    return type == "text_delta" ? delta["text"].as_string() : "";
  }
  void take_end(const Json& data) {
    body_.set("stop_reason", data["delta"]["stop_reason"]);
    Json usage = body_["usage"];
    for (const auto& [key, value] : data["usage"].members()) usage.set(key, value);
    body_.set("usage", std::move(usage));
  }

  Json body_ = Json::object();
  std::map<int64_t, Json> blocks_;
  bool finished_ = false;
};

}  // namespace

const Wire kAnthropicWire = {
    kName,
    "x-api-key",
    "",
    "anthropic-version: 2023-06-01",
    "request-id",
    [](const Request&, Streaming) { return std::string("/v1/messages"); },
    write_body,
    read_body,
    []() -> std::unique_ptr<Assembler> { return std::make_unique<AnthropicAssembler>(); },
};

}  // namespace kw::llm
