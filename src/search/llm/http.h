// HTTP as a port; the real one is libcurl, loaded when first needed. Only for calling models: POST
// and GET, no redirects, no files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "llm/secret.h"

namespace kw::llm {

struct HttpRequest {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  /// "x-api-key" and "", or "Authorization" and "Bearer "; not sent when the key is empty.
  std::string key_header, key_prefix;
  Secret key;
  std::string body;     // "": GET
  std::string ca_file;  // trusted certificates; "": the system's
  double timeout_seconds = 600;
  double connect_seconds = 20;
  double idle_seconds = 300;  // without a received byte
  uint64_t reply_limit = 10'000'000;
};

struct HttpReply {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  /// The value of a header (name in lower case), or "".
  const std::string& header(std::string_view name) const;
};

enum class HttpProblem : uint8_t {
  None,
  NoLibrary,
  BadUrl,
  Connect,  // name, route or proxy
  Tls,      // a certificate that is not trusted
  Timeout,
  CutOff,
  TooLarge,
  Cancelled,
  Other
};

struct HttpOutcome {
  HttpProblem problem = HttpProblem::None;
  std::string detail;  // of the problem
  HttpReply reply;     // the part that arrived
  double seconds = 0;
  bool sent = false;  // a connection was made, so the server may have read the request
};

struct HttpWatch {
  /// Called with the bytes of the body as they arrive, and the reply so far.
  std::function<void(const HttpReply& head, std::string_view bytes)> on_data = {};
  std::function<bool()> cancelled = {};
};

class Http {
 public:
  virtual ~Http();
  /// Blocks; may be called from several threads at once.
  virtual HttpOutcome send(const HttpRequest& request, const HttpWatch& watch) = 0;
};

/// libcurl, loaded under the first of these names that exists. It verifies TLS certificates, takes
/// proxies from the environment as curl does, and does not follow redirects.
std::unique_ptr<Http> make_curl_http(std::vector<std::string> library_names = {
                                         "libcurl.so.4", "libcurl-gnutls.so.4"});

/// The version of libcurl, or why it cannot be loaded.
Result<std::string> curl_version();

}  // namespace kw::llm
