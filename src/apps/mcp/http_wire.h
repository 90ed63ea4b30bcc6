// One client's connection: bytes in and out with deadlines, and a stream of events in answer to one
// request.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "mcp/http.h"
#include "mcp/session.h"

namespace kw::mcp {

class HttpWire {
 public:
  HttpWire(int fd, const std::atomic<bool>& ending) : fd_(fd), ending_(ending) {}
  ~HttpWire();
  HttpWire(const HttpWire&) = delete;
  HttpWire& operator=(const HttpWire&) = delete;

  /// The next request without its body; nothing when the client is gone or says nothing for long.
  std::optional<std::variant<HttpRequest, HttpRefusal>> head();
  /// False when it did not come.
  bool body(HttpRequest& request, size_t length);
  bool write(std::string_view bytes);
  bool write(const HttpAnswer& answer) { return write(to_text(answer)); }
  /// Whether the client has closed its end.
  bool hung_up() const;

 private:
  /// Reads what there is; false when nothing came in time.
  bool more(double seconds);

  int fd_;
  const std::atomic<bool>& ending_;
  std::string read_;  // and not yet used
};

/// The answer to one POST: a document if it comes soon, else a stream of events.
class HttpSink : public Sink {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;
  /// `stop_with_client`: a client that goes away wants the request cancelled.
  HttpSink(HttpWire& wire, const std::atomic<bool>& ending, bool stop_with_client)
      : wire_(wire), ending_(ending), stop_with_client_(stop_with_client) {}

  void send(const Json& message) override;
  bool gone() override;
  /// The last word; `status` counts when nothing was streamed. False: close the connection.
  bool finish(const std::optional<Json>& message, int status, const Headers& headers);

 private:
  void commit();

  HttpWire& wire_;
  const std::atomic<bool>& ending_;
  bool stop_with_client_;
  bool streaming_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace kw::mcp
