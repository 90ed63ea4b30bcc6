// JSON-RPC 2.0 as the Model Context Protocol uses it: text becomes messages, or error responses for
// bad text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/json.h"

namespace kw::mcp {

enum ErrorCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kResourceNotFound = -32002,
  kHeaderMismatch = -32020,
  kUnsupportedRevision = -32022,
};

/// The most bytes of one message; a larger one is refused before it is stored.
inline constexpr size_t kMostMessageBytes = size_t{16} << 20;
/// The most names, values and brackets of one message: parsing time must be bounded too.
inline constexpr size_t kMostMessageParts = 20000;

/// Why a request failed.
struct RpcError {
  int code = kInternalError;
  std::string message;
  Json data;  // null: none
};

using RpcReply = std::variant<Json, RpcError>;

struct Message {
  enum class Kind { Request, Notification, Response };
  Kind kind = Kind::Request;
  Json id;             // text or a whole number; null for notifications
  std::string method;  // "" for responses
  Json params;         // an object
};

/// The content of one text: messages, and for each part that is not one, an error response.
struct Incoming {
  bool batch = false;
  std::vector<std::variant<Message, Json>> items;
};

Incoming read_messages(std::string_view text);

Json response(const Json& id, const RpcReply& reply);
Json failure(const Json& id, const RpcError& fault);
Json notification(const std::string& method, Json params);
/// An id as a key: 1 and "1" differ.
std::string id_key(const Json& id);

}  // namespace kw::mcp
