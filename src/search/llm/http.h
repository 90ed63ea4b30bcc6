// One HTTP POST as a port: the real one is libcurl, loaded when first needed. Not for anything but
// talking to models: no redirects, no other methods than POST and GET, no files.
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
  /// "x-api-key" and "" or "Authorization" and "Bearer "; not sent when the secret is empty.
  std::string key_header, key_prefix;
  Secret key;
  std::string body;     // "" = GET
  std::string ca_file;  // certificates to trust instead of the system's; "" = the system's
  double timeout_seconds = 600;
  double connect_seconds = 20;
  double idle_seconds = 300;  // without one byte
  uint64_t reply_limit = 10'000'000;
};

struct HttpReply {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  /// Value of a header (name in lower case), or "".
  const std::string& header(std::string_view name) const;
};

enum class HttpProblem : uint8_t {
  None,
  NoLibrary,
  BadUrl,
  Connect,  // name, route, proxy
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
  HttpReply reply;     // as much as arrived
  double seconds = 0;
  bool sent = false;  // a connection was made, so the other side may have read the request
};

struct HttpWatch {
  /// Bytes of the body as they arrive, with the head they belong to.
  std::function<void(const HttpReply& head, std::string_view bytes)> on_data = {};
  std::function<bool()> cancelled = {};
};

class Http {
 public:
  virtual ~Http();
  /// Blocks; may be called from several threads at once.
  virtual HttpOutcome send(const HttpRequest& request, const HttpWatch& watch) = 0;
};

/// libcurl, by the first of these names that the loader finds. TLS certificates are verified,
/// proxies are taken from the environment as curl does, redirects are not followed.
std::unique_ptr<Http> make_curl_http(std::vector<std::string> library_names = {
                                         "libcurl.so.4", "libcurl-gnutls.so.4"});

/// Whether libcurl can be loaded: its version text, or why not.
Result<std::string> curl_version();

}  // namespace kw::llm
