// The part of HTTP/1.1 that one strict endpoint needs: reads heads of requests, writes answers.
// Text only; http_wire.h has the sockets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kw::mcp {

inline constexpr size_t kMostHeadBytes = size_t{16} << 10;

struct HttpRequest {
  std::string method, target;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  /// The value of a header; nullptr when there is none.
  const std::string* header(std::string_view name) const;
};

/// Why a request is refused: "400", "missing Host".
struct HttpRefusal {
  int status = 400;
  std::string why;
};

/// Parses a head without the empty line that ends it. Refuses everything that is not exactly
/// HTTP/1.1, and important headers that are given twice.
std::variant<HttpRequest, HttpRefusal> read_head(std::string_view head);
/// The length of the body; 411 when it is missing, 413 when it is too large.
std::variant<size_t, HttpRefusal> body_length(const HttpRequest& request, size_t most);

/// Whether Host and Origin name this machine. A page from elsewhere could otherwise reach us
/// through a name that it made point here.
bool is_local_host(std::string_view host);
bool is_local_origin(std::string_view origin);
/// Whether an Accept header allows this type.
bool accepts(const HttpRequest& request, std::string_view type);
/// Whether "Bearer TOKEN" was sent; takes the same time wherever they differ.
bool is_authorized(const HttpRequest& request, std::string_view token);

struct HttpAnswer {
  int status = 200;
  std::string type;  // "" = no body
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
  bool close = false;
};
std::string to_text(const HttpAnswer& answer);

/// The text of "=?base64?…?=", the form of text that is not plain ASCII; false when damaged.
bool decode_header(const std::string& value, std::string* text);

}  // namespace kw::mcp
