// OpenAI's chat completions format, which many servers imitate. The reader is tolerant where
// imitations differ: arguments as an object, calls without ids, "stop" as the reason when tools are
// called, pieces of calls without an index. Features that imitations may not have (reasoning
// effort) are sent only to models that are known to have them. A strict reader would find faulty
// servers earlier, but would exclude local ones. The cost: reasoning is not kept between turns,
// because the format has no place for it.
#include "llm/wire.h"

#include <map>

#include "core/json_writer.h"

namespace kw::llm {
namespace {

Json calls_json(const Message& message) {
  Json calls = Json::array();
  for (const ToolCall& call : message.calls) {
    Json function(Json::Object{{"name", call.name}, {"arguments", arguments_text(call)}});
    calls.push(Json(
        Json::Object{{"id", call.id}, {"type", "function"}, {"function", std::move(function)}}));
  }
  return calls;
}

void add_message(const Message& message, Json& messages) {
  if (message.role == MessageRole::Assistant) {
    Json turn(Json::Object{{"role", "assistant"}});
    turn.set("content",
             message.text.empty() && !message.calls.empty() ? Json() : Json(message.text));
    if (!message.calls.empty()) turn.set("tool_calls", calls_json(message));
    messages.push(std::move(turn));
    return;
  }
  for (const ToolResult& result : message.results) {
    messages.push(
        Json(Json::Object{{"role", "tool"},
                          {"tool_call_id", result.call_id},
                          {"content", (result.failed ? "error: " : "") + result.content}}));
  }
  if (!message.text.empty())
    messages.push(Json(Json::Object{{"role", "user"}, {"content", message.text}}));
}

Json tools_json(const Request& request) {
  Json tools = Json::array();
  for (const Tool& tool : request.tools) {
    Json function(Json::Object{
        {"name", tool.name}, {"description", tool.description}, {"parameters", tool.schema}});
    tools.push(Json(Json::Object{{"type", "function"}, {"function", std::move(function)}}));
  }
  return tools;
}

Json write_body(const Request& request, const WireTarget& target,
                std::vector<std::string>& degraded) {
  Json body = Json::object();
  Json messages = Json::array();
  if (const std::string system = joined_system(request); !system.empty())
    messages.push(Json(Json::Object{{"role", "system"}, {"content", system}}));
  for (const Message& message : request.messages) add_message(message, messages);
  body.set("model", request.model).set("messages", std::move(messages));
  if (!request.tools.empty()) body.set("tools", tools_json(request));
  body.set(target.row.max_tokens_field, request.max_tokens);
  if (request.reasoning.asked()) {
    if (target.model.thinking == Thinking::Effort) {
      body.set("reasoning_effort", effort_of(request.reasoning));
    } else {
      degraded.push_back("reasoning: the model is not known to have any; left out");
    }
  }
  if (may_send_temperature(request, target, degraded))
    body.set("temperature", *request.temperature);
  if (!request.stop.empty()) {
    if (target.model.thinking == Thinking::Effort) {
      degraded.push_back("stop: reasoning models take none; left out");
    } else {
      body.set("stop", json_of(request.stop));
    }
  }
  if (target.streaming == Streaming::Yes) {
    body.set("stream", true);
    body.set("stream_options", Json(Json::Object{{"include_usage", true}}));
  }
  return body;
}

StopReason stop_of(const std::string& word) {
  if (word == "stop") return StopReason::End;
  if (word == "tool_calls" || word == "function_call") return StopReason::ToolUse;
  if (word == "length") return StopReason::Length;
  return word == "content_filter" ? StopReason::Refusal : StopReason::Other;
}

/// The vendor includes cached tokens in the prompt tokens.
Usage usage_of(const Json& usage) {
  Usage out;
  out.known = usage["prompt_tokens"].is_int();
  out.cache_read = tokens_of(usage["prompt_tokens_details"]["cached_tokens"]);
  out.input = tokens_of(usage["prompt_tokens"]) - out.cache_read;
  out.output = tokens_of(usage["completion_tokens"]);
  out.reasoning = tokens_of(usage["completion_tokens_details"]["reasoning_tokens"]);
  return possible(out);
}

/// Some imitations send the arguments as an object.
std::string spelled(const Json& arguments) {
  return arguments.is_object() ? arguments.dump() : arguments.as_string();
}

Outcome read_body(const Json& body) {
  if (body["choices"].items().empty()) return invalid_reply("the reply has no choices");
  const Json& choice = body["choices"].items()[0];
  const Json& message = choice["message"];
  if (!message.is_object()) return invalid_reply("the reply's choice has no message");
  Reply reply;
  reply.text = message["content"].as_string();
  reply.stop_word = choice["finish_reason"].as_string();
  reply.stop = stop_of(reply.stop_word);
  for (const Json& call : message["tool_calls"].items()) {
    std::string id = call["id"].as_string();
    if (id.empty()) id = "call_" + std::to_string(reply.calls.size() + 1);
    reply.calls.push_back(make_tool_call(std::move(id), call["function"]["name"].as_string(),
                                         spelled(call["function"]["arguments"])));
  }
  // Imitations also report "stop" when they call tools.
  if (!reply.calls.empty() && reply.stop == StopReason::End) reply.stop = StopReason::ToolUse;
  if (const std::string& refusal = message["refusal"].as_string(); !refusal.empty()) {
    reply.text = reply.text.empty() ? refusal : reply.text;
    reply.stop = StopReason::Refusal;
  }
  reply.usage = usage_of(body["usage"]);
  reply.model = body["model"].as_string();
  if (auto failure = empty_reply(reply)) return *failure;
  return reply;
}

class ChatAssembler : public Assembler {
 public:
  std::string take(const SseEvent& event, const Json& data) override {
    if (event.data == "[DONE]") {
      finished_ = true;
      return "";
    }
    if (data.contains("error")) error_ = data["error"];
    if (data["usage"].is_object()) usage_ = data["usage"];
    if (data["model"].is_string()) model_ = data["model"].as_string();
    if (data["choices"].items().empty()) return "";
    const Json& choice = data["choices"].items()[0];
    if (!choice["finish_reason"].as_string().empty()) {
      finish_ = choice["finish_reason"].as_string();
      finished_ = true;
    }
    return take_delta(choice["delta"]);
  }
  bool finished() const override { return finished_; }
  Json body() const override {
    Json calls = Json::array();
    for (const auto& [index, call] : calls_) {
      calls.push(Json(Json::Object{
          {"id", call.id},
          {"function", Json(Json::Object{{"name", call.name}, {"arguments", call.arguments}})}}));
    }
    Json message(Json::Object{{"content", content_}, {"refusal", refusal_}, {"tool_calls", calls}});
    Json choice(Json::Object{{"message", std::move(message)}, {"finish_reason", finish_}});
    Json body = Json::object();
    body.set("choices", Json(Json::Array{std::move(choice)})).set("model", model_);
    if (!usage_.is_null()) body.set("usage", usage_);
    if (!error_.is_null()) body.set("error", error_);
    return body;
  }

 private:
  struct Call {
    std::string id, name, arguments;
  };
  std::string take_delta(const Json& delta) {
    content_ += delta["content"].as_string();
    refusal_ += delta["refusal"].as_string();
    int64_t position = 0;
    for (const Json& piece : delta["tool_calls"].items()) {
      Call& call = calls_[piece["index"].as_int(position++)];
      if (!piece["id"].as_string().empty()) call.id = piece["id"].as_string();
      call.name += piece["function"]["name"].as_string();
      call.arguments += spelled(piece["function"]["arguments"]);
    }
    return delta["content"].as_string();
  }

  std::string content_, refusal_, finish_, model_;
  std::map<int64_t, Call> calls_;
  Json usage_, error_;
  bool finished_ = false;
};

}  // namespace

const Wire kOpenAiChatWire = {
    "openai-chat",
    "Authorization",
    "Bearer ",
    nullptr,
    "x-request-id",
    [](const Request&, Streaming) { return std::string("/chat/completions"); },
    write_body,
    read_body,
    []() -> std::unique_ptr<Assembler> { return std::make_unique<ChatAssembler>(); },
};

}  // namespace kw::llm
