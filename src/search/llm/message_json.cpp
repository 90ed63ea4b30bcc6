// Requests and outcomes as JSON, for cassettes, transcripts and ledgers. Optional members that are
// not set are left out. The label and the timeout are not written: they do not change the answer. A
// replay that finds no equal request must tell the user why, so first_difference() compares two
// values member by member. It gives the path and the byte of the first difference. A text diff
// would need no code here, but a request is one long line. The cost: only the first difference is
// shown.
#include "llm/message_json.h"

#include <fmt/core.h>

#include <algorithm>

namespace kw::llm {
namespace {

Json call_json(const ToolCall& call) {
  return Json(Json::Object{{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
}

Json result_json(const ToolResult& result) {
  Json json(Json::Object{
      {"call_id", result.call_id}, {"name", result.name}, {"content", result.content}});
  if (result.failed) json.set("failed", true);
  return json;
}

template <typename T, typename F>
Json list(const std::vector<T>& items, F write) {
  Json out = Json::array();
  for (const T& item : items) out.push(write(item));
  return out;
}

void set_opaque(const Opaque& opaque, Json& json) {
  if (opaque.wire.empty()) return;
  json.set("opaque",
           Json(Json::Object{
               {"wire", opaque.wire}, {"model", opaque.model}, {"content", opaque.content}}));
}

Json message_json(const Message& message) {
  Json json(Json::Object{{"role", message.role == MessageRole::User ? "user" : "assistant"}});
  if (!message.text.empty()) json.set("text", message.text);
  if (!message.calls.empty()) json.set("calls", list(message.calls, call_json));
  if (!message.results.empty()) json.set("results", list(message.results, result_json));
  if (message.cache == Cache::Mark) json.set("cache", true);
  set_opaque(message.opaque, json);
  return json;
}

Json block_json(const SystemBlock& block) {
  Json json(Json::Object{{"text", block.text}});
  if (block.cache == Cache::Mark) json.set("cache", true);
  return json;
}

Json tool_json(const Tool& tool) {
  return Json(Json::Object{
      {"name", tool.name}, {"description", tool.description}, {"schema", tool.schema}});
}

Json reply_json(const Reply& reply) {
  Json json(Json::Object{{"text", reply.text}, {"stop", stop_name(reply.stop)}});
  json.set("stop_word", reply.stop_word);
  if (!reply.calls.empty()) json.set("calls", list(reply.calls, call_json));
  json.set("usage", to_json(reply.usage));
  json.set("provider", reply.provider).set("model", reply.model);
  json.set("request_id", reply.request_id).set("latency_seconds", reply.latency_seconds);
  if (!reply.degraded.empty())
    json.set("degraded", list(reply.degraded, [](const std::string& note) { return Json(note); }));
  set_opaque(reply.opaque, json);
  return json;
}

Json failure_json(const Failure& failure) {
  Json json(Json::Object{{"kind", failure_name(failure.kind)}, {"message", failure.message}});
  if (failure.retry_after_seconds) json.set("retry_after_seconds", *failure.retry_after_seconds);
  if (failure.status != 0) json.set("status", failure.status);
  json.set("request_id", failure.request_id).set("sent", failure.sent);
  if (failure.usage.known) json.set("usage", to_json(failure.usage));
  json.set("latency_seconds", failure.latency_seconds);
  return json;
}

Result<Outcome> reply_from(const Json& json) {
  Reply reply;
  const auto stop = stop_reason(json["stop"].as_string());
  if (!stop || !json["text"].is_string()) return input_error("a reply without text or stop");
  reply.stop = *stop;
  reply.text = json["text"].as_string();
  reply.stop_word = json["stop_word"].as_string();
  for (const Json& call : json["calls"].items()) {
    reply.calls.push_back(make_tool_call(call["id"].as_string(), call["name"].as_string(),
                                         call["arguments"].as_string()));
  }
  reply.usage = usage_from_json(json["usage"]);
  reply.provider = json["provider"].as_string();
  reply.model = json["model"].as_string();
  reply.request_id = json["request_id"].as_string();
  reply.latency_seconds = json["latency_seconds"].as_double();
  for (const Json& note : json["degraded"].items()) reply.degraded.push_back(note.as_string());
  if (json.contains("opaque"))
    reply.opaque = {json["opaque"]["wire"].as_string(), json["opaque"]["model"].as_string(),
                    json["opaque"]["content"]};
  return Outcome(std::move(reply));
}

Result<Outcome> failure_from(const Json& json) {
  const auto kind = failure_kind(json["kind"].as_string());
  if (!kind) return input_error("a failure of unknown kind");
  Failure failure;
  failure.kind = *kind;
  failure.message = json["message"].as_string();
  if (json["retry_after_seconds"].is_number())
    failure.retry_after_seconds = json["retry_after_seconds"].as_double();
  failure.status = static_cast<int>(json["status"].as_int());
  failure.request_id = json["request_id"].as_string();
  failure.sent = json["sent"].as_bool();
  failure.usage = usage_from_json(json["usage"]);
  failure.latency_seconds = json["latency_seconds"].as_double();
  return Outcome(std::move(failure));
}

std::string excerpt(const std::string& text, size_t at) {
  constexpr size_t kBefore = 20, kAfter = 40;
  const size_t begin = at > kBefore ? at - kBefore : 0;
  return (begin > 0 ? "…" : "") + text.substr(begin, at - begin + kAfter) +
         (at + kAfter < text.size() ? "…" : "");
}

std::string differ(const Json& a, const Json& b, const std::string& path);

std::string differ_strings(const std::string& a, const std::string& b, const std::string& path) {
  const auto at =
      static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  return fmt::format("{}: byte {}: recorded '{}', now '{}'", path, at, excerpt(a, at),
                     excerpt(b, at));
}

std::string differ_lists(const Json& a, const Json& b, const std::string& path) {
  const size_t both = std::min(a.items().size(), b.items().size());
  for (size_t i = 0; i < both; ++i) {
    std::string inner = differ(a.items()[i], b.items()[i], fmt::format("{}[{}]", path, i));
    if (!inner.empty()) return inner;
  }
  if (a.items().size() == b.items().size()) return "";
  return fmt::format("{}: recorded {} items, now {}", path, a.items().size(), b.items().size());
}

std::string differ_objects(const Json& a, const Json& b, const std::string& path) {
  const auto at = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  for (const auto& [key, value] : a.members()) {
    if (!b.contains(key)) return fmt::format("{}: recorded, but not there now", at(key));
    std::string inner = differ(value, b[key], at(key));
    if (!inner.empty()) return inner;
  }
  for (const auto& [key, value] : b.members()) {
    if (!a.contains(key)) return fmt::format("{}: not recorded, but there now", at(key));
  }
  return "";
}

std::string differ(const Json& a, const Json& b, const std::string& path) {
  if (a.is_object() && b.is_object()) return differ_objects(a, b, path);
  if (a.is_array() && b.is_array()) return differ_lists(a, b, path);
  const std::string a_text = a.dump(), b_text = b.dump();
  if (a_text == b_text) return "";
  if (a.is_string() && b.is_string()) return differ_strings(a.as_string(), b.as_string(), path);
  return fmt::format("{}: recorded {}, now {}", path, excerpt(a_text, 0), excerpt(b_text, 0));
}

}  // namespace

Json to_json(const Request& request) {
  Json json(Json::Object{{"model", request.model}});
  json.set("system", list(request.system, block_json));
  json.set("messages", list(request.messages, message_json));
  json.set("tools", list(request.tools, tool_json));
  json.set("max_tokens", request.max_tokens);
  if (request.temperature) json.set("temperature", *request.temperature);
  if (request.reasoning.asked()) {
    json.set("reasoning", Json(Json::Object{{"effort", effort_name(request.reasoning.effort)},
                                            {"budget_tokens", request.reasoning.budget_tokens}}));
  }
  if (!request.stop.empty())
    json.set("stop", list(request.stop, [](const std::string& word) { return Json(word); }));
  return json;
}

Usage usage_from_json(const Json& json) {
  Usage usage;
  usage.known = json.is_object();
  usage.input = json["input"].as_int();
  usage.output = json["output"].as_int();
  usage.cache_read = json["cache_read"].as_int();
  usage.cache_write = json["cache_write"].as_int();
  usage.reasoning = json["reasoning"].as_int();
  return usage;
}

Json to_json(const Usage& usage) {
  if (!usage.known) return Json();
  return Json(Json::Object{{"input", usage.input},
                           {"output", usage.output},
                           {"cache_read", usage.cache_read},
                           {"cache_write", usage.cache_write},
                           {"reasoning", usage.reasoning}});
}

Json to_json(const Outcome& outcome) {
  return outcome ? Json(Json::Object{{"reply", reply_json(*outcome)}})
                 : Json(Json::Object{{"failure", failure_json(outcome.failure())}});
}

Result<Outcome> outcome_from_json(const Json& json) {
  if (json.contains("reply")) return reply_from(json["reply"]);
  if (json.contains("failure")) return failure_from(json["failure"]);
  return input_error("neither a reply nor a failure");
}

std::string first_difference(const Json& recorded, const Json& now) {
  return differ(recorded, now, "");
}

}  // namespace kw::llm
