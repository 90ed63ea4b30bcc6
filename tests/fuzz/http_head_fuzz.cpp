// The head of a request to our own server: read, or refused with a status and a reason.
#include "drive.h"
#include "mcp/http.h"

namespace kw::fuzz {

const std::vector<std::string> kPieces = {"\r\n",
                                          "POST /mcp HTTP/1.1",
                                          "Host: ",
                                          "127.0.0.1",
                                          "[::1]:80",
                                          "localhost",
                                          "@evil",
                                          "%",
                                          "Origin: http://",
                                          "Content-Length: ",
                                          "-1",
                                          "99999999999999999999",
                                          "Transfer-Encoding: chunked",
                                          "Authorization: Bearer ",
                                          "Accept: application/json, text/event-stream",
                                          ";q=0",
                                          "\t",
                                          " ",
                                          ":",
                                          "=?base64?",
                                          "?=",
                                          std::string(1, '\0'),
                                          "\x7f"};

void check(const std::string& bytes) {
  const auto head = mcp::read_head(bytes);
  if (const auto* refusal = std::get_if<mcp::HttpRefusal>(&head)) {
    require(refusal->status >= 400 && refusal->status < 600 && !refusal->why.empty(), "a reason");
    require(refusal->why.find_first_of("\r\n") == std::string::npos, "a reason is one line");
    return;
  }
  const auto& request = std::get<mcp::HttpRequest>(head);
  const auto length = mcp::body_length(request, 1000);
  if (const auto* size = std::get_if<size_t>(&length)) require(*size <= 1000, "no larger body");
  for (const auto& [name, value] : request.headers) {
    require(value.find_first_of("\r\n") == std::string::npos, "a header is one line");
    const bool local = mcp::is_local_host(value);
    require(!local || value.find("evil") == std::string::npos, "another host is not this machine");
    (void)mcp::is_local_origin(value);
    std::string text;
    (void)mcp::decode_header(value, &text);
  }
  (void)mcp::accepts(request, "application/json");
  (void)mcp::is_authorized(request, "secret");
}

}  // namespace kw::fuzz
