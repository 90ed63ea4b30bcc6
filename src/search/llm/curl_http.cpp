// HTTP with libcurl, loaded at run time so that neither the build nor the binary needs libcurl.
// Each exchange uses its own easy and multi handle. The multi interface waits on the sockets and on
// the interrupt descriptor together, so Ctrl-C ends an exchange at once. The simpler easy interface
// can be stopped only from its progress callback. The wait also ends every 50 ms to poll
// `cancelled`. The cost: connections are not reused, so each exchange pays for a new TLS handshake.
#include "llm/http.h"

#include <fmt/core.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <mutex>
#include <optional>

#include "core/text.h"
#include "core/web_address.h"
#include "llm/clock.h"
#include "llm/curl_api.h"
#include "os/interrupt.h"

namespace kw::llm {
namespace {

constexpr size_t kMostHeaders = 200;
constexpr size_t kErrorBytes = 256;  // required by libcurl

/// The state of one exchange that libcurl's callbacks use.
struct Exchange {
  const HttpRequest& request;
  const HttpWatch& watch;
  const curl::Api& api;
  curl::Easy* easy;
  HttpReply reply;
  bool too_large = false;
  std::exception_ptr thrown = nullptr;

  bool stopped() const { return os::interrupted() || (watch.cancelled && watch.cancelled()); }

  void take_header(std::string_view line) {
    if (line.starts_with("HTTP/")) {  // a proxy's or interim reply precedes the real one
      reply.headers.clear();
      return;
    }
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || reply.headers.size() >= kMostHeaders) return;
    reply.headers.emplace_back(lower_case(trim(line.substr(0, colon))),
                               std::string(trim(line.substr(colon + 1))));
  }

  bool take_body(std::string_view bytes) {
    if (reply.body.size() + bytes.size() > request.reply_limit) {
      too_large = true;
      return false;
    }
    long status = 0;
    api.easy_getinfo(easy, curl::kResponseCode, &status);
    reply.status = static_cast<int>(status);
    reply.body += bytes;
    if (watch.on_data) watch.on_data(reply, bytes);
    return true;
  }
};

size_t on_header(char* bytes, size_t size, size_t count, void* exchange) {
  static_cast<Exchange*>(exchange)->take_header(std::string_view(bytes, size * count));
  return size * count;
}

size_t on_body(char* bytes, size_t size, size_t count, void* exchange) {
  auto* self = static_cast<Exchange*>(exchange);
  try {
    // Any return value but the number of bytes ends the transfer.
    return self->take_body({bytes, size * count}) ? size * count : 0;
  } catch (...) {  // an exception must not pass through C code
    self->thrown = std::current_exception();
    return 0;
  }
}

HttpProblem problem_of(int code) {
  switch (code) {
    case curl::kOk:
      return HttpProblem::None;
    case curl::kUnsupportedProtocol:
    case curl::kUrlMalformed:
      return HttpProblem::BadUrl;
    case curl::kNoProxy:
    case curl::kNoHost:
    case curl::kNoConnection:
    case curl::kTlsHandshake:
      return HttpProblem::Connect;
    case curl::kTlsCertificate:
    case curl::kTlsCipher:
    case curl::kTlsPeer:
    case curl::kTlsCaFile:
      return HttpProblem::Tls;
    case curl::kTimedOut:
      return HttpProblem::Timeout;
    case curl::kPartialFile:
    case curl::kGotNothing:
    case curl::kSendError:
    case curl::kReceiveError:
    case curl::kHttp2:
    case curl::kHttp2Stream:
      return HttpProblem::CutOff;
    default:
      return HttpProblem::Other;
  }
}

/// Blocks SIGPIPE in this thread during its lifetime. TLS libraries write to sockets that the
/// server has closed, and libcurl handles that only if it may use signals.
class NoSigpipe {
 public:
  NoSigpipe() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoSigpipe() {
    constexpr timespec kNow{0, 0};
    if (!was_pending_) {
      while (::sigtimedwait(&pipe_, nullptr, &kNow) < 0 && errno == EINTR) {
      }
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

/// The handles of one exchange, freed in the order that libcurl requires.
class Handles {
 public:
  explicit Handles(const curl::Api& api)
      : api_(api), easy(api.easy_init()), multi(api.multi_init()) {
    if (good()) api_.multi_add_handle(multi, easy);
  }
  ~Handles() {
    if (good()) api_.multi_remove_handle(multi, easy);
    if (multi != nullptr) api_.multi_cleanup(multi);
    if (easy != nullptr) api_.easy_cleanup(easy);
    if (headers != nullptr) api_.slist_free_all(headers);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  bool good() const { return easy != nullptr && multi != nullptr; }
  void header(const std::string& line) { headers = api_.slist_append(headers, line.c_str()); }

 private:
  const curl::Api& api_;

 public:
  curl::Easy* easy;
  curl::Multi* multi;
  curl::Slist* headers = nullptr;
};

class CurlHttp : public Http {
 public:
  explicit CurlHttp(std::vector<std::string> names) : names_(std::move(names)) {}

  HttpOutcome send(const HttpRequest& request, const HttpWatch& watch) override {
    HttpOutcome outcome;
    if (!read_address(request.url)) {  // libcurl may read it otherwise than we did
      outcome.problem = HttpProblem::BadUrl;
      outcome.detail = "the URL is not a plain address: " + request.key.redact(request.url);
      return outcome;
    }
    std::call_once(loaded_, [this] { api_.emplace(curl::load(names_)); });
    if (!*api_) {
      outcome.problem = HttpProblem::NoLibrary;
      outcome.detail = api_->error().message;
      return outcome;
    }
    return exchange(**api_, request, watch);
  }

 private:
  HttpOutcome exchange(const curl::Api& api, const HttpRequest& request, const HttpWatch& watch);
  void prepare(const curl::Api& api, const HttpRequest& request, Handles& handles,
               Exchange& exchange, char* error_text);
  std::optional<int> perform(const curl::Api& api, Handles& handles, const Exchange& exchange);

  std::vector<std::string> names_;
  std::once_flag loaded_;
  std::optional<Result<curl::Api>> api_;
};

void CurlHttp::prepare(const curl::Api& api, const HttpRequest& request, Handles& handles,
                       Exchange& exchange, char* error_text) {
  const auto set = [&](int option, auto value) { api.easy_setopt(handles.easy, option, value); };
  for (const auto& [name, value] : request.headers) handles.header(name + ": " + value);
  if (!request.key.empty())
    handles.header(request.key_header + ": " + request.key_prefix + request.key.reveal());
  handles.header("Expect:");  // send the body without waiting for "100 Continue"
  set(curl::kUrl, request.url.c_str());
  set(curl::kErrorBuffer, error_text);
  if (is_loopback(host_of(request.url))) set(curl::kNoProxyFor, "*");
  set(curl::kNoSignal, 1L);
  set(curl::kProtocols, 3L);  // http and https
  set(curl::kFollowLocation, 0L);
  set(curl::kVerifyPeer, 1L);
  set(curl::kVerifyHost, 2L);
  set(curl::kTcpKeepAlive, 1L);
  set(curl::kAcceptEncoding, "");  // all that libcurl can decode; the limit counts decoded bytes
  set(curl::kUserAgent, "kernelwright");
  set(curl::kTimeoutMs, static_cast<long>(std::max(0.001, request.timeout_seconds) * 1000));
  set(curl::kConnectTimeoutMs, static_cast<long>(std::max(0.001, request.connect_seconds) * 1000));
  set(curl::kLowSpeedLimit, 1L);
  set(curl::kLowSpeedTime, static_cast<long>(std::max(1.0, request.idle_seconds)));
  if (!request.ca_file.empty()) set(curl::kCaInfo, request.ca_file.c_str());
  if (!request.body.empty()) {
    set(curl::kPost, 1L);
    set(curl::kPostFields, request.body.data());
    set(curl::kPostFieldSize, static_cast<long long>(request.body.size()));
  }
  set(curl::kHttpHeader, handles.headers);
  set(curl::kHeaderFunction, &on_header);
  set(curl::kHeaderData, static_cast<void*>(&exchange));
  set(curl::kWriteFunction, &on_body);
  set(curl::kWriteData, static_cast<void*>(&exchange));
}

/// libcurl's result code; not set when the user stopped the exchange.
std::optional<int> CurlHttp::perform(const curl::Api& api, Handles& handles,
                                     const Exchange& exchange) {
  for (int running = 1; running > 0;) {
    if (exchange.stopped()) return std::nullopt;
    if (api.multi_perform(handles.multi, &running) != curl::kOk) return curl::kReceiveError;
    if (running == 0) break;
    curl::WaitFd interrupt{os::interrupt_fd(), curl::kWaitIn, 0};
    api.multi_poll(handles.multi, &interrupt, interrupt.fd >= 0 ? 1 : 0, 50, nullptr);
  }
  int left = 0;
  while (const curl::Message* message = api.multi_info_read(handles.multi, &left)) {
    if (message->kind == curl::kMessageDone) return message->data.result;
  }
  return curl::kReceiveError;
}

HttpOutcome CurlHttp::exchange(const curl::Api& api, const HttpRequest& request,
                               const HttpWatch& watch) {
  HttpOutcome outcome;
  const NoSigpipe guard;
  Handles handles(api);
  if (!handles.good()) {
    outcome.problem = HttpProblem::Other;
    outcome.detail = "libcurl has no memory";
    return outcome;
  }
  Exchange exchange{request, watch, api, handles.easy, {}};
  std::array<char, kErrorBytes> error_text{};
  prepare(api, request, handles, exchange, error_text.data());
  const double start = real_clock().now();
  const std::optional<int> code = perform(api, handles, exchange);
  outcome.seconds = real_clock().now() - start;
  if (exchange.thrown) std::rethrow_exception(exchange.thrown);

  double connected = 0;
  api.easy_getinfo(handles.easy, curl::kPretransferTime, &connected);
  outcome.sent = connected > 0;
  long status = 0;
  api.easy_getinfo(handles.easy, curl::kResponseCode, &status);
  exchange.reply.status = static_cast<int>(status);
  outcome.reply = std::move(exchange.reply);
  if (!code) {
    outcome.problem = HttpProblem::Cancelled;
  } else if (exchange.too_large) {
    outcome.problem = HttpProblem::TooLarge;
    outcome.detail = fmt::format("the reply is larger than {} MB", request.reply_limit / 1'000'000);
  } else {
    outcome.problem = problem_of(*code);
    outcome.detail = error_text[0] != '\0' ? error_text.data() : api.easy_strerror(*code);
  }
  outcome.detail = request.key.redact(outcome.detail);
  return outcome;
}

}  // namespace

Http::~Http() = default;

const std::string& HttpReply::header(std::string_view name) const {
  static const std::string none;
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return none;
}

std::unique_ptr<Http> make_curl_http(std::vector<std::string> library_names) {
  return std::make_unique<CurlHttp>(std::move(library_names));
}

Result<std::string> curl_version() {
  const curl::Api api = KW_TRY(curl::load({"libcurl.so.4", "libcurl-gnutls.so.4"}));
  const std::string text = api.version();
  return text.substr(0, text.find(' '));
}

}  // namespace kw::llm
