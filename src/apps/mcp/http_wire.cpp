#include "mcp/http_wire.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace kw::mcp {
namespace {

using Instant = std::chrono::steady_clock;

constexpr double kSoon = 1;    // later answers are streamed, so that the client sees activity
constexpr double kAlive = 15;  // between two signs of activity
constexpr int kStepMs = 200;

double passed(Instant::time_point moment) {
  return std::chrono::duration<double>(Instant::now() - moment).count();
}

}  // namespace

HttpWire::~HttpWire() { ::close(fd_); }

bool HttpWire::more(double seconds) {
  const Instant::time_point began = Instant::now();
  while (!ending_ && passed(began) < seconds) {
    pollfd polled{fd_, POLLIN, 0};
    if (::poll(&polled, 1, kStepMs) <= 0) continue;
    char chunk[65536];
    const ssize_t n = ::recv(fd_, chunk, sizeof(chunk), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    read_.append(chunk, static_cast<size_t>(n));
    return true;
  }
  return false;
}

std::optional<std::variant<HttpRequest, HttpRefusal>> HttpWire::head() {
  if (read_.empty() && !more(patience_.idle)) return std::nullopt;
  const Instant::time_point began = Instant::now();
  for (;;) {
    const size_t end = read_.find("\r\n\r\n");
    if (end > kMostHeadBytes && read_.size() > kMostHeadBytes)
      return HttpRefusal{431, "the request head is too long"};
    if (end != std::string::npos) {
      auto request = read_head(std::string_view(read_).substr(0, end));
      read_.erase(0, end + 4);
      return request;
    }
    const double left = patience_.head - passed(began);
    if (left <= 0) return HttpRefusal{408, "the request head did not arrive in time"};
    if (!more(left) && passed(began) < patience_.head) return std::nullopt;
  }
}

bool HttpWire::body(HttpRequest& request, size_t length) {
  const std::string* expect = request.header("expect");
  if (expect != nullptr && read_.empty() && length > 0) write("HTTP/1.1 100 Continue\r\n\r\n");
  const Instant::time_point began = Instant::now();
  const double most = patience_.silence + static_cast<double>(length) / patience_.least_rate;
  while (read_.size() < length) {
    if (!more(std::min(patience_.silence, most - passed(began)))) return false;
  }
  request.body = read_.substr(0, length);
  read_.erase(0, length);
  return true;
}

bool HttpWire::write(std::string_view bytes) {
  const Instant::time_point began = Instant::now();
  const double most = patience_.stall + static_cast<double>(bytes.size()) / patience_.least_rate;
  Instant::time_point last = began;
  while (!bytes.empty() && !broken_) {
    const bool late = passed(last) > (ending_ ? 1 : patience_.stall) || passed(began) > most;
    pollfd polled{fd_, POLLOUT, 0};
    const bool ready = !late && ::poll(&polled, 1, kStepMs) > 0;
    const ssize_t n =
        ready ? ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
    broken_ = late || (n < 0 && errno != EINTR && errno != EAGAIN);
    if (n <= 0) continue;
    bytes.remove_prefix(static_cast<size_t>(n));
    last = Instant::now();
  }
  return !broken_;
}

bool HttpWire::is_closed() const {
  pollfd polled{fd_, POLLIN | POLLRDHUP, 0};
  if (broken_) return true;
  if (::poll(&polled, 1, 0) <= 0) return false;
  return (polled.revents & (POLLHUP | POLLERR | POLLRDHUP)) != 0;
}

void HttpSink::commit() {
  if (streaming_) return;
  streaming_ = true;
  wire_.write(
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
      "Connection: close\r\n\r\n");
}

void HttpSink::send(const Json& message) {
  commit();
  wire_.write("event: message\ndata: " + message.dump() + "\n\n");
  last_ = Instant::now();
}

bool HttpSink::gone() {
  if (passed(last_) > (streaming_ ? kAlive : kSoon)) {
    commit();
    wire_.write(": still at work\n\n");
    last_ = Instant::now();
  }
  return ending_ || (stop_with_client_ && wire_.is_closed());
}

bool HttpSink::finish(const std::optional<Json>& message, int status, const Headers& headers) {
  if (!streaming_ && message) {
    HttpAnswer answer{status, "application/json", message->dump()};
    answer.headers = headers;
    return wire_.write(answer);
  }
  if (message) {
    send(*message);
  } else {
    commit();
  }
  return false;
}

}  // namespace kw::mcp
