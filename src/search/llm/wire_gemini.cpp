// Google's generateContent format. Its schemas are a subset of JSON schema, so unknown keys are
// removed and listed in `degraded`. Its calls may have no ids: this source makes ids for the
// conversation, and sends back only those that the provider gave. Parts with a thought signature
// must come back unchanged, so they are kept in Reply::opaque. Calls of other models get the
// vendor's placeholder signature. Rejecting such schemas and conversations would be simpler, but
// then a job could not change models. The cost: removed schema keys no longer constrain the model.
#include "core/ascii.h"
#include "llm/wire.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/contains.h"
#include "core/json_writer.h"
#include "core/text.h"

namespace kw::llm {
namespace {

constexpr const char* kName = "gemini";
constexpr std::array kSchemaKeys = {"type",      "format",   "title",     "description", "nullable",
                                    "enum",      "maxItems", "minItems",  "properties",  "required",
                                    "minLength", "minimum",  "maxLength", "maximum",     "pattern",
                                    "items",     "anyOf"};

/// The schema without the keys that the format does not have; adds those to `dropped`.
Json reduced_schema(const Json& schema, std::vector<std::string>& dropped) {
  if (!schema.is_object()) return schema;
  Json out = Json::object();
  for (const auto& [key, value] : schema.members()) {
    if (!contains(kSchemaKeys, key)) {
      dropped.push_back(key);
    } else if (key == "properties") {
      Json properties = Json::object();
      for (const auto& [name, property] : value.members())
        properties.set(name, reduced_schema(property, dropped));
      out.set(key, std::move(properties));
    } else if (key == "anyOf") {
      Json choices = Json::array();
      for (const Json& choice : value.items()) choices.push(reduced_schema(choice, dropped));
      out.set(key, std::move(choices));
    } else {
      out.set(key, key == "items" ? reduced_schema(value, dropped) : value);
    }
  }
  return out;
}

// The vendor's placeholder for a call that its model did not make.
constexpr const char* kForeignSignature = "skip_thought_signature_validator";

Json assistant_parts(const Message& message, const WireTarget& target) {
  if (message.opaque.wire == kName) return message.opaque.content;
  Json parts = Json::array();
  if (!trim(message.text).empty()) parts.push(Json(Json::Object{{"text", message.text}}));
  for (const ToolCall& call : message.calls) {
    Json function(Json::Object{{"name", call.name}, {"args", arguments_object(call)}});
    Json part(Json::Object{{"functionCall", std::move(function)}});
    if (target.model.thinking == Thinking::Level) part.set("thoughtSignature", kForeignSignature);
    parts.push(std::move(part));
  }
  return parts;
}

/// The call ids that the provider gave. Only those are sent back to it.
std::set<std::string> given_ids(const Request& request) {
  std::set<std::string> ids;
  for (const Message& message : request.messages) {
    if (message.opaque.wire != kName) continue;
    for (const Json& part : message.opaque.content.items())
      ids.insert(part["functionCall"]["id"].as_string());
  }
  return ids;
}

Json user_parts(const Message& message, const std::set<std::string>& ids) {
  Json parts = Json::array();
  for (const ToolResult& result : message.results) {
    Json content(Json::Object{{result.failed ? "error" : "output", result.content}});
    Json response(Json::Object{{"name", result.name}, {"response", std::move(content)}});
    if (ids.count(result.call_id) != 0) response.set("id", result.call_id);
    parts.push(Json(Json::Object{{"functionResponse", std::move(response)}}));
  }
  if (!message.text.empty()) parts.push(Json(Json::Object{{"text", message.text}}));
  return parts;
}

Json tools_json(const Request& request, std::vector<std::string>& degraded) {
  Json functions = Json::array();
  std::vector<std::string> dropped;
  for (const Tool& tool : request.tools) {
    Json function(Json::Object{{"name", tool.name}, {"description", tool.description}});
    const Json schema = reduced_schema(tool.schema, dropped);
    // A function without parameters must not declare an empty object.
    if (!schema["properties"].members().empty()) function.set("parameters", schema);
    functions.push(std::move(function));
  }
  std::sort(dropped.begin(), dropped.end());
  dropped.erase(std::unique(dropped.begin(), dropped.end()), dropped.end());
  for (const std::string& key : dropped)
    degraded.push_back(fmt::format("tool schema: '{}' is unknown to the provider; left out", key));
  Json declarations(Json::Object{{"functionDeclarations", std::move(functions)}});
  return Json(Json::Array{std::move(declarations)});
}

Json config_json(const Request& request, const WireTarget& target,
                 std::vector<std::string>& degraded) {
  Json config(Json::Object{{"maxOutputTokens", request.max_tokens}});
  if (may_send_temperature(request, target, degraded))
    config.set("temperature", *request.temperature);
  if (!request.stop.empty()) {
    config.set("stopSequences", json_of(request.stop));
  }
  if (!request.reasoning.asked()) return config;
  Json thinking = Json::object();
  if (target.model.thinking == Thinking::Budget) {
    thinking.set("thinkingBudget", std::min(budget_of(request.reasoning), request.max_tokens));
  } else if (target.model.thinking == Thinking::Level) {
    const std::string effort = effort_of(request.reasoning);
    thinking.set("thinkingLevel", effort == "low" ? "low" : "high");
  } else {
    degraded.push_back("reasoning: not sent: the model does not support reasoning");
    return config;
  }
  config.set("thinkingConfig", std::move(thinking));
  return config;
}

Json write_body(const Request& request, const WireTarget& target,
                std::vector<std::string>& degraded) {
  Json body = Json::object();
  if (const std::string system = joined_system(request); !system.empty()) {
    Json part(Json::Object{{"text", system}});
    body.set("systemInstruction",
             Json(Json::Object{{"parts", Json(Json::Array{std::move(part)})}}));
  }
  Json contents = Json::array();
  const std::set<std::string> ids = given_ids(request);
  for (const Message& message : request.messages) {
    const bool user = message.role == MessageRole::User;
    Json parts = user ? user_parts(message, ids) : assistant_parts(message, target);
    contents.push(
        Json(Json::Object{{"role", user ? "user" : "model"}, {"parts", std::move(parts)}}));
  }
  body.set("contents", std::move(contents));
  if (!request.tools.empty()) body.set("tools", tools_json(request, degraded));
  body.set("generationConfig", config_json(request, target, degraded));
  return body;
}

std::string path_of(const Request& request, Streaming streaming) {
  std::string name;
  const std::string model =
      request.model.starts_with("models/") ? request.model.substr(7) : request.model;
  for (const char c : model) {
    const bool plain = is_ascii_alnum(c) || c == '-' || c == '.' || c == '_';
    name += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return "/models/" + name +
         (streaming == Streaming::Yes ? ":streamGenerateContent?alt=sse" : ":generateContent");
}

StopReason stop_of(const std::string& word) {
  if (word == "STOP") return StopReason::End;
  if (word == "MAX_TOKENS") return StopReason::Length;
  constexpr std::array kRefusals = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT",
                                    "SPII"};
  const bool refused = contains(kRefusals, word);
  return refused ? StopReason::Refusal : StopReason::Other;
}

Usage usage_of(const Json& usage) {
  Usage out;
  out.known = usage["promptTokenCount"].is_int();
  out.cache_read = tokens_of(usage["cachedContentTokenCount"]);
  out.input = tokens_of(usage["promptTokenCount"]) - out.cache_read;
  out.reasoning = tokens_of(usage["thoughtsTokenCount"]);
  out.output = tokens_of(usage["candidatesTokenCount"]) + out.reasoning;
  return possible(out);
}

Failure no_candidate(const Json& body) {
  const std::string& reason = body["promptFeedback"]["blockReason"].as_string();
  Failure failure = invalid_reply("the reply has no candidates");
  if (!reason.empty()) {
    failure.kind = FailureKind::Refused;
    failure.message = "the provider blocked the prompt: " + reason;
  }
  failure.usage = usage_of(body["usageMetadata"]);
  return failure;
}

Outcome read_body(const Json& body) {
  if (body["candidates"].items().empty()) return no_candidate(body);
  const Json& candidate = body["candidates"].items()[0];
  Reply reply;
  bool is_signed = false;
  const Json& parts = candidate["content"]["parts"];
  for (const Json& part : parts.items()) {
    is_signed |= part.contains("thoughtSignature");
    if (!part["thought"].as_bool()) reply.text += part["text"].as_string();
    if (!part["functionCall"].is_object()) continue;
    const Json& call = part["functionCall"];
    std::string id = call["id"].as_string();
    if (id.empty()) id = fmt::format("call_{}", reply.calls.size() + 1);
    const Json& args = call["args"];
    reply.calls.push_back(make_tool_call(std::move(id), call["name"].as_string(),
                                         args.is_null() ? "{}" : args.dump()));
  }
  reply.stop_word = candidate["finishReason"].as_string();
  reply.stop = stop_of(reply.stop_word);
  if (reply.stop == StopReason::End && !reply.calls.empty()) reply.stop = StopReason::ToolUse;
  reply.usage = usage_of(body["usageMetadata"]);
  reply.model = body["modelVersion"].as_string();
  if (is_signed) reply.opaque = {kName, "", parts};
  if (auto failure = empty_reply(reply)) return *failure;
  return reply;
}

class GeminiAssembler : public Assembler {
 public:
  std::string take(const SseEvent&, const Json& data) override {
    for (const char* key : {"promptFeedback", "usageMetadata", "modelVersion", "error"}) {
      if (data.contains(key)) body_.set(key, data[key]);
    }
    if (!body_["promptFeedback"]["blockReason"].as_string().empty()) finished_ = true;
    if (data["candidates"].items().empty()) return "";
    seen_ = true;
    const Json& candidate = data["candidates"].items()[0];
    if (!candidate["finishReason"].as_string().empty()) {
      finish_ = candidate["finishReason"].as_string();
      finished_ = true;
    }
    std::string shown;
    for (const Json& part : candidate["content"]["parts"].items()) {
      take_part(part);
      if (!part["thought"].as_bool()) shown += part["text"].as_string();
    }
    return shown;
  }
  bool finished() const override { return finished_; }
  Json body() const override {
    Json body = body_;
    if (!seen_) return body;
    Json content(Json::Object{{"parts", Json(parts_)}});
    Json candidate(Json::Object{{"content", std::move(content)}, {"finishReason", finish_}});
    body.set("candidates", Json(Json::Array{std::move(candidate)}));
    return body;
  }

 private:
  static bool plain_text(const Json& part) {
    return part["text"].is_string() && !part["thought"].as_bool() && part.members().size() == 1;
  }
  /// Joins consecutive pieces of plain text into one part.
  void take_part(const Json& part) {
    if (plain_text(part) && !parts_.empty() && plain_text(parts_.back())) {
      parts_.back().set("text", parts_.back()["text"].as_string() + part["text"].as_string());
    } else {
      parts_.push_back(part);
    }
  }

  Json body_ = Json::object();
  Json::Array parts_;
  std::string finish_;
  bool seen_ = false, finished_ = false;
};

}  // namespace

const Wire kGeminiWire = {
    kName,
    "x-goog-api-key",
    "",
    nullptr,
    "x-request-id",
    path_of,
    write_body,
    read_body,
    []() -> std::unique_ptr<Assembler> { return std::make_unique<GeminiAssembler>(); },
};

}  // namespace kw::llm
