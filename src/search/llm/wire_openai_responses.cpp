// OpenAI's responses format. The vendor could keep the conversation, but then a replay or another
// provider could not continue it. So nothing is stored there (store = false). Reasoning is
// requested in encrypted form, kept in Reply::opaque and sent back with the next turn. The cost:
// the whole conversation is sent each time. Streaming needs no assembly, because the last event has
// the whole response.
#include "llm/wire.h"

namespace kw::llm {
namespace {

constexpr const char* kName = "openai-responses";

void add_message(const Message& message, Json& input) {
  const auto push_text = [&](const char* role, const char* type) {
    Json part(Json::Object{{"type", type}, {"text", message.text}});
    input.push(Json(Json::Object{
        {"type", "message"}, {"role", role}, {"content", Json(Json::Array{std::move(part)})}}));
  };
  if (message.role == MessageRole::Assistant) {
    if (message.opaque.wire == kName) {
      for (const Json& item : message.opaque.content.items()) input.push(item);
      return;
    }
    if (!message.text.empty()) push_text("assistant", "output_text");
    for (const ToolCall& call : message.calls) {
      input.push(Json(Json::Object{{"type", "function_call"},
                                   {"call_id", call.id},
                                   {"name", call.name},
                                   {"arguments", arguments_text(call)}}));
    }
    return;
  }
  for (const ToolResult& result : message.results) {
    input.push(Json(Json::Object{{"type", "function_call_output"},
                                 {"call_id", result.call_id},
                                 {"output", (result.failed ? "error: " : "") + result.content}}));
  }
  if (!message.text.empty()) push_text("user", "input_text");
}

Json tools_json(const Request& request) {
  Json tools = Json::array();
  for (const Tool& tool : request.tools) {
    tools.push(Json(Json::Object{{"type", "function"},
                                 {"name", tool.name},
                                 {"description", tool.description},
                                 {"parameters", tool.schema},
                                 {"strict", false}}));
  }
  return tools;
}

Json write_body(const Request& request, const WireTarget& target,
                std::vector<std::string>& degraded) {
  Json body = Json::object();
  body.set("model", request.model);
  if (const std::string system = joined_system(request); !system.empty())
    body.set("instructions", system);
  Json input = Json::array();
  for (const Message& message : request.messages) add_message(message, input);
  body.set("input", std::move(input));
  if (!request.tools.empty()) body.set("tools", tools_json(request));
  body.set("max_output_tokens", request.max_tokens).set("store", false);
  if (target.model.thinking == Thinking::Effort) {
    body.set("include", Json(Json::Array{"reasoning.encrypted_content"}));
    if (request.reasoning.asked())
      body.set("reasoning", Json(Json::Object{{"effort", effort_of(request.reasoning)}}));
  } else if (request.reasoning.asked()) {
    degraded.push_back("reasoning: the model is not known to have any; left out");
  }
  if (may_send_temperature(request, target, degraded))
    body.set("temperature", *request.temperature);
  if (!request.stop.empty()) degraded.push_back("stop: not sent: this format has no stop words");
  if (target.streaming == Streaming::Yes) body.set("stream", true);
  return body;
}

Usage usage_of(const Json& usage) {
  Usage out;
  out.known = usage["input_tokens"].is_int();
  out.cache_read = tokens_of(usage["input_tokens_details"]["cached_tokens"]);
  out.input = tokens_of(usage["input_tokens"]) - out.cache_read;
  out.output = tokens_of(usage["output_tokens"]);
  out.reasoning = tokens_of(usage["output_tokens_details"]["reasoning_tokens"]);
  return possible(out);
}

/// Adds the text of an item; returns whether it is a refusal.
bool take_message(const Json& item, Reply& reply) {
  bool refused = false;
  for (const Json& part : item["content"].items()) {
    if (part["type"].as_string() == "output_text") reply.text += part["text"].as_string();
    if (part["type"].as_string() != "refusal") continue;
    reply.text += part["refusal"].as_string();
    refused = true;
  }
  return refused;
}

void set_stop(const Json& body, bool refused, Reply& reply) {
  reply.stop_word = body["status"].as_string();
  reply.stop = reply.calls.empty() ? StopReason::End : StopReason::ToolUse;
  if (reply.stop_word == "incomplete") {
    reply.stop_word = body["incomplete_details"]["reason"].as_string();
    reply.stop = reply.stop_word == "max_output_tokens" ? StopReason::Length
                 : reply.stop_word == "content_filter"  ? StopReason::Refusal
                                                        : StopReason::Other;
  }
  if (refused) reply.stop = StopReason::Refusal;
}

Outcome read_body(const Json& body) {
  if (!body["output"].is_array()) return invalid_reply("the reply has no output");
  Reply reply;
  bool refused = false;
  bool reasoned = false;
  for (const Json& item : body["output"].items()) {
    const std::string& type = item["type"].as_string();
    if (type == "message") refused |= take_message(item, reply);
    if (type == "function_call") {
      reply.calls.push_back(make_tool_call(item["call_id"].as_string(), item["name"].as_string(),
                                           item["arguments"].as_string()));
    }
    reasoned |= type == "reasoning" && item["encrypted_content"].is_string();
  }
  set_stop(body, refused, reply);
  reply.usage = usage_of(body["usage"]);
  if (auto failure = empty_reply(reply)) return *failure;
  reply.model = body["model"].as_string();
  if (reasoned) reply.opaque = {kName, "", body["output"]};
  return reply;
}

/// The last event has the whole response.
class ResponsesAssembler : public Assembler {
 public:
  std::string take(const SseEvent& event, const Json& data) override {
    const std::string& type = data["type"].is_string() ? data["type"].as_string() : event.type;
    if (type == "response.output_text.delta") return data["delta"].as_string();
    if (type == "error") {
      body_.set("error", data.contains("error") ? data["error"] : data);
      finished_ = true;
    }
    if (type == "response.completed" || type == "response.incomplete" ||
        type == "response.failed") {
      body_ = data["response"];
      finished_ = true;
    }
    return "";
  }
  bool finished() const override { return finished_; }
  Json body() const override { return body_; }

 private:
  Json body_ = Json::object();
  bool finished_ = false;
};

}  // namespace

const Wire kOpenAiResponsesWire = {
    kName,
    "Authorization",
    "Bearer ",
    nullptr,
    "x-request-id",
    [](const Request&, Streaming) { return std::string("/responses"); },
    write_body,
    read_body,
    []() -> std::unique_ptr<Assembler> { return std::make_unique<ResponsesAssembler>(); },
};

}  // namespace kw::llm
