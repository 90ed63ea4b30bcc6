// HTTP/1.1 as far as one strict endpoint needs it: heads of requests are read, answers are written.
// Text only; sockets are http_server's.
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
  std::vector<std::pair<std::string, std::string>> headers;  // names in small letters
  std::string body;

  /// The value of a header; nullptr when there is none.
  const std::string* header(std::string_view name) const;
};

/// Why a request is not served: "400", "missing Host".
struct HttpRefusal {
  int status = 400;
  std::string why;
};

/// A head without the empty line that ends it. What is not exactly HTTP/1.1 is refused, and so are
/// headers that count and are given twice.
std::variant<HttpRequest, HttpRefusal> read_head(std::string_view head);
/// How long the body is; 411 and 413 where that is not said or too much.
std::variant<size_t, HttpRefusal> body_length(const HttpRequest& request, size_t most);

/// Whether Host and Origin name this machine: a page from elsewhere must not reach us through a
/// name that it made point here.
bool is_local_host(std::string_view host);
bool is_local_origin(std::string_view origin);
/// Whether an Accept header takes this type.
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

/// The text behind "=?base64?…?=", as headers carry what is not plain ASCII; false when damaged.
bool decode_header(const std::string& value, std::string* text);

}  // namespace kw::mcp
