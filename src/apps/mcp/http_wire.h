// One client's connection: reads and writes bytes with deadlines, and streams events as the answer
// to one request.
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

/// How long a client may take, in seconds.
struct Patience {
  double idle = 60;            // between two requests
  double head = 10;            // for the rest of a head
  double silence = 60;         // without any byte of a body
  double stall = 20;           // without any byte of an answer accepted
  double least_rate = 10'240;  // bytes per second of a body or an answer, beyond that silence
};

class HttpWire {
 public:
  HttpWire(int fd, const std::atomic<bool>& ending, Patience patience = {})
      : fd_(fd), ending_(ending), patience_(patience) {}
  ~HttpWire();
  HttpWire(const HttpWire&) = delete;
  HttpWire& operator=(const HttpWire&) = delete;

  /// The next request without its body; empty when the client disconnected or is silent too long.
  std::optional<std::variant<HttpRequest, HttpRefusal>> head();
  int fd() const { return fd_; }
  /// False when it did not arrive, or too slowly.
  bool body(HttpRequest& request, size_t length);
  /// False when the client does not take it, or too slowly; then nothing more is written.
  bool write(std::string_view bytes);
  bool write(const HttpAnswer& answer) { return write(to_text(answer)); }
  /// Whether the client has closed its end, or a write failed.
  bool is_closed() const;

 private:
  /// Reads available bytes; false when none arrived in time.
  bool more(double seconds);

  int fd_;
  const std::atomic<bool>& ending_;
  const Patience patience_;
  std::string read_;     // bytes not used yet
  bool broken_ = false;  // a write failed
};

/// The answer to one POST: a document if it is ready soon, otherwise a stream of events.
class HttpSink : public Sink {
 public:
  using Headers = std::vector<std::pair<std::string, std::string>>;
  /// `stop_with_client`: the request is cancelled when the client leaves.
  HttpSink(HttpWire& wire, const std::atomic<bool>& ending, bool stop_with_client)
      : wire_(wire), ending_(ending), stop_with_client_(stop_with_client) {}

  void send(const Json& message) override;
  bool gone() override;
  /// Sends the last message; `status` is used if no event was streamed. False: close the
  /// connection.
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
