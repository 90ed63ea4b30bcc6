// An endpoint on the loopback interface is reachable from every web page of the user's browser. So
// requests are parsed strictly: HTTP/1.1 only, a Content-Length, important headers at most once,
// and Host and Origin must name this machine. The last rule stops pages that made a foreign name
// point here (DNS rebinding). The token is compared in constant time.
// A library would accept far more of HTTP than one endpoint needs, and each of those features could
// be attacked. The cost: no chunked bodies, no HTTP/1.0 and no HTTP/2.
#include "mcp/http.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <utility>

#include "core/ascii.h"
#include "core/contains.h"
#include "core/text.h"
#include "core/web_address.h"

namespace kw::mcp {
namespace {

constexpr size_t kMostHeaders = 100;
constexpr size_t kLongestTarget = 2048;
constexpr std::array kOnce = {"host",           "content-length",       "authorization",
                              "origin",         "content-type",         "transfer-encoding",
                              "mcp-session-id", "mcp-protocol-version", "mcp-method",
                              "mcp-name"};

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_ascii_alnum(c) ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool is_field_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c == '\t' || (c >= 0x20 && c != 0x7f); });
}

std::vector<std::string_view> head_lines(std::string_view head) {
  std::vector<std::string_view> lines;
  for (;;) {
    const size_t end = head.find("\r\n");
    lines.push_back(head.substr(0, end));
    if (end == std::string_view::npos) return lines;
    head.remove_prefix(end + 2);
  }
}

const char* reason_phrase(int status) {
  constexpr std::pair<int, const char*> kPhrases[] = {
      {200, "OK"},
      {202, "Accepted"},
      {204, "No Content"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {408, "Request Timeout"},
      {411, "Length Required"},
      {413, "Content Too Large"},
      {415, "Unsupported Media Type"},
      {431, "Request Header Fields Too Large"},
      {501, "Not Implemented"},
      {503, "Service Unavailable"},
      {505, "HTTP Version Not Supported"},
  };
  for (const auto& [number, phrase] : kPhrases) {
    if (number == status) return phrase;
  }
  return "Error";
}

int sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool decode_base64(std::string_view text, std::string* out) {
  out->clear();
  if (text.size() % 4 != 0) return false;
  for (size_t at = 0; at < text.size(); at += 4) {
    const bool last = at + 4 == text.size();
    const int padding = last && text[at + 3] == '=' ? (text[at + 2] == '=' ? 2 : 1) : 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; ++i) {
      const int six = i >= 4 - static_cast<size_t>(padding) ? 0 : sextet(text[at + i]);
      if (six < 0) return false;
      bits = bits << 6 | static_cast<uint32_t>(six);
    }
    for (int i = 0; i < 3 - padding; ++i) *out += static_cast<char>(bits >> (16 - 8 * i));
  }
  return true;
}

}  // namespace

const std::string* HttpRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::variant<HttpRequest, HttpRefusal> read_head(std::string_view head) {
  const std::vector<std::string_view> lines = head_lines(head);
  const std::vector<std::string> words = split(lines.front(), ' ');
  if (words.size() != 3 || !is_token(words[0]) || !words[1].starts_with('/') ||
      words[1].size() > kLongestTarget || !is_field_text(words[1]))
    return HttpRefusal{400, "not a request line"};
  if (words[2] != "HTTP/1.1") return HttpRefusal{505, "HTTP/1.1 only"};
  if (lines.size() - 1 > kMostHeaders) return HttpRefusal{431, "too many headers"};
  HttpRequest request;
  request.method = words[0];
  request.target = words[1];
  for (size_t i = 1; i < lines.size(); ++i) {
    const size_t colon = lines[i].find(':');
    if (colon == std::string_view::npos || !is_token(lines[i].substr(0, colon)) ||
        !is_field_text(lines[i].substr(colon)))
      return HttpRefusal{400, "not a header"};
    const std::string name = lower_case(lines[i].substr(0, colon));
    const bool once = contains(kOnce, name);
    if (once && request.header(name) != nullptr) return HttpRefusal{400, name + " is given twice"};
    request.headers.emplace_back(name, trim(lines[i].substr(colon + 1)));
  }
  if (request.header("host") == nullptr) return HttpRefusal{400, "Host is missing"};
  if (request.header("transfer-encoding") != nullptr)
    return HttpRefusal{501, "bodies need a Content-Length"};
  return request;
}

std::variant<size_t, HttpRefusal> body_length(const HttpRequest& request, size_t most) {
  const std::string* text = request.header("content-length");
  if (text == nullptr) {
    if (request.method == "POST") return HttpRefusal{411, "Content-Length is missing"};
    return size_t{0};
  }
  const bool digits =
      !text->empty() && text->size() < 16 &&
      std::all_of(text->begin(), text->end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (!digits) return HttpRefusal{400, "Content-Length is not a number"};
  const size_t length = std::stoull(*text);
  if (length > most) return HttpRefusal{413, fmt::format("a body has at most {} bytes", most)};
  return length;
}

bool is_local_host(std::string_view host) {
  constexpr std::array<std::string_view, 3> kNames = {"127.0.0.1", "localhost", "[::1]"};
  const auto place = read_place(host);
  return place && contains(kNames, place->host);
}

bool is_local_origin(std::string_view origin) {
  const auto address = read_address(origin);
  return address && address->rest.empty() && is_local_host(address->place.host);
}

bool accepts(const HttpRequest& request, std::string_view type) {
  const std::string_view major = type.substr(0, type.find('/'));
  for (const auto& [name, value] : request.headers) {
    if (name != "accept") continue;
    for (const std::string& one : split(lower_case(value), ',')) {
      const std::string_view range = trim(std::string_view(one).substr(0, one.find(';')));
      if (range == "*/*" || range == type || range == std::string(major) + "/*") return true;
    }
  }
  return false;
}

bool is_authorized(const HttpRequest& request, std::string_view token) {
  const std::string* given = request.header("authorization");
  constexpr std::string_view kBearer = "bearer ";
  if (given == nullptr || lower_case(std::string_view(*given).substr(0, kBearer.size())) != kBearer)
    return false;
  const std::string_view sent = trim(std::string_view(*given).substr(kBearer.size()));
  unsigned differ = sent.size() == token.size() ? 0 : 1;
  for (size_t i = 0; i < token.size(); ++i)
    differ |= static_cast<unsigned char>(token[i] ^ (sent.empty() ? '\0' : sent[i % sent.size()]));
  return differ == 0;
}

std::string to_text(const HttpAnswer& answer) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", answer.status, reason_phrase(answer.status));
  if (!answer.type.empty()) text += "Content-Type: " + answer.type + "\r\n";
  if (answer.status != 204) text += fmt::format("Content-Length: {}\r\n", answer.body.size());
  for (const auto& [name, value] : answer.headers) text += name + ": " + value + "\r\n";
  text += "Cache-Control: no-store\r\n";
  if (answer.close) text += "Connection: close\r\n";
  return text + "\r\n" + answer.body;
}

bool decode_header(const std::string& value, std::string* text) {
  constexpr std::string_view kOpen = "=?base64?", kClose = "?=";
  if (!value.starts_with(kOpen) || !value.ends_with(kClose) ||
      value.size() < kOpen.size() + kClose.size()) {
    *text = value;
    return true;
  }
  return decode_base64(
      std::string_view(value).substr(kOpen.size(), value.size() - kOpen.size() - kClose.size()),
      text);
}

}  // namespace kw::mcp
