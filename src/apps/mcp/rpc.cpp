#include "mcp/rpc.h"

#include <fmt/core.h>

namespace kw::mcp {
namespace {

constexpr size_t kLongestMethod = 200;

/// Counts separators outside of strings, because the time of parsing grows with them.
bool too_many_parts(std::string_view text) {
  size_t parts = 0;
  bool inside = false, escaped = false;
  for (const char c : text) {
    if (inside) {
      if (escaped) {
        escaped = false;
      } else if (c == '\\') {
        escaped = true;
      } else if (c == '"') {
        inside = false;
      }
      continue;
    }
    inside = c == '"';
    if (c == ',' || c == ':' || c == '[' || c == '{') ++parts;
    if (parts > kMostMessageParts) return true;
  }
  return false;
}

bool is_id(const Json& id) { return id.is_string() || id.is_int(); }

Json refused(const Json& id, const std::string& why) {
  return failure(is_id(id) ? id : Json(), {kInvalidRequest, why, {}});
}

std::variant<Message, Json> message_of(const Json& json) {
  const Json& id = json["id"];
  if (!json.is_object()) return refused({}, "a message is a JSON object");
  if (json["jsonrpc"].as_string() != "2.0") return refused(id, "\"jsonrpc\" must be \"2.0\"");
  Message message;
  message.id = id;
  if (!json.contains("method")) {
    if (!json.contains("result") && !json.contains("error"))
      return refused(id, "a message has a \"method\", a \"result\" or an \"error\"");
    message.kind = Message::Kind::Response;
    return message;
  }
  const std::string& method = json["method"].as_string();
  if (method.empty() || method.size() > kLongestMethod)
    return refused(id, "\"method\" must be the name of a method");
  message.method = method;
  message.kind = json.contains("id") ? Message::Kind::Request : Message::Kind::Notification;
  if (message.kind == Message::Kind::Request && !is_id(id))
    return refused({}, "\"id\" must be text or a whole number");
  message.params = json["params"].is_null() ? Json::object() : json["params"];
  if (message.params.is_object()) return message;
  if (message.kind == Message::Kind::Notification) message.params = Json::object();
  if (message.kind == Message::Kind::Notification) return message;
  return failure(id, {kInvalidParams, "\"params\" must be an object", {}});
}

Incoming only(Json error) {
  Incoming incoming;
  incoming.items.emplace_back(std::move(error));
  return incoming;
}

}  // namespace

Incoming read_messages(std::string_view text) {
  if (text.size() > kMostMessageBytes)
    return only(refused({}, fmt::format("a message has at most {} bytes", kMostMessageBytes)));
  if (too_many_parts(text))
    return only(refused({}, fmt::format("a message has at most {} parts", kMostMessageParts)));
  const Result<Json> json = Json::parse(text);
  if (!json) return only(failure({}, {kParseError, json.error().message, {}}));
  Incoming incoming;
  incoming.batch = json->is_array();
  if (!incoming.batch) {
    incoming.items.push_back(message_of(*json));
    return incoming;
  }
  if (json->items().empty()) return only(refused({}, "an empty batch"));
  for (const Json& one : json->items()) incoming.items.push_back(message_of(one));
  return incoming;
}

Json failure(const Json& id, const RpcError& fault) {
  Json error = Json::object();
  error.set("code", fault.code).set("message", fault.message);
  if (!fault.data.is_null()) error.set("data", fault.data);
  return Json::object().set("jsonrpc", "2.0").set("id", id).set("error", std::move(error));
}

Json response(const Json& id, const RpcReply& reply) {
  if (const RpcError* fault = std::get_if<RpcError>(&reply)) return failure(id, *fault);
  return Json::object().set("jsonrpc", "2.0").set("id", id).set("result", std::get<Json>(reply));
}

Json notification(const std::string& method, Json params) {
  return Json::object()
      .set("jsonrpc", "2.0")
      .set("method", method)
      .set("params", std::move(params));
}

std::string id_key(const Json& id) { return id.dump(); }

}  // namespace kw::mcp
