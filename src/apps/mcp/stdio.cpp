// Over standard input and output each line is one message. A client may send a cancellation while a
// tool runs, so reading must not wait for a tool. Slow methods therefore run in threads of their
// own, and quick ones at once, in order. Whole lines are written under a mutex, so that responses
// do not mix.
// A pipe whose reader stopped would block a plain write forever. So each write waits until the pipe
// is ready and sends at most PIPE_BUF bytes; at the end the server waits 1 s for such a client and
// no longer. The cost: more system calls for large results.
#include "mcp/stdio.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <mutex>

#include "mcp/line_reader.h"
#include "mcp/thread_group.h"
#include "os/interrupt.h"

namespace kw::mcp {
namespace {

constexpr int kWatchMs = 200;
constexpr int kPatienceMs = 1000;

/// Standard output; writes whole lines, from any thread.
class LineSink : public Sink {
 public:
  explicit LineSink(int fd) : fd_(fd) {}

  void send(const Json& message) override {
    const std::string line = message.dump() + "\n";
    const std::lock_guard lock(mutex_);
    if (!broken_ && !write(line)) broken_ = true;
  }
  bool gone() override { return broken_; }
  /// From now on a client that does not read is not waited for.
  void close() { closing_ = true; }

 private:
  // Writes at most PIPE_BUF bytes at once, which a ready pipe accepts without blocking.
  bool write(std::string_view bytes) {
    int waited = 0;
    while (!bytes.empty()) {
      pollfd polled{fd_, POLLOUT, 0};
      if (::poll(&polled, 1, kWatchMs) <= 0) {
        waited += kWatchMs;
        if (closing_ && waited > kPatienceMs) return false;
        continue;
      }
      const ssize_t n = ::write(fd_, bytes.data(), std::min<size_t>(bytes.size(), PIPE_BUF));
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (n < 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
      waited = 0;
    }
    return true;
  }

  int fd_;
  std::mutex mutex_;
  std::atomic<bool> broken_{false}, closing_{false};
};

class Conversation {
 public:
  Conversation(Server& server, int in, int out) : server_(server), in_(in), sink_(out) {}

  void run() {
    LineReader reader(kMostMessageBytes);
    std::string chunk(1 << 16, '\0');
    while (!sink_.gone() && wait()) {
      const ssize_t n = ::read(in_, chunk.data(), chunk.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      for (const auto& line : reader.add(std::string_view(chunk).substr(0, static_cast<size_t>(n))))
        take(line);
    }
    if (!os::interrupted()) {
      for (const auto& line : reader.finish()) take(line);
    }
    sink_.close();
    session_.cancel_all();
    server_.jobs().close();
    threads_.join();
  }

 private:
  /// False when the user interrupts or the client has disconnected.
  bool wait() {
    for (;;) {
      if (os::interrupted()) return false;
      pollfd polled[2] = {{in_, POLLIN, 0}, {os::interrupt_fd(), POLLIN, 0}};
      ::poll(polled, 2, kWatchMs);
      if (polled[0].revents != 0) return !os::interrupted();
      if (sink_.gone()) return false;
    }
  }

  void take(const LineReader::Line& line) {
    if (line.too_long) {
      sink_.send(failure(
          {},
          {kInvalidRequest, fmt::format("a line has at most {} bytes", kMostMessageBytes), {}}));
      return;
    }
    Incoming incoming = read_messages(line.text);
    if (!incoming.batch) return one(incoming.items.front());
    const Revision* revision = session_.revision();
    if (revision == nullptr || !revision->batches) {
      sink_.send(failure({}, {kInvalidRequest, "this protocol version has no batches", {}}));
      return;
    }
    batch(std::move(incoming));
  }

  void one(const std::variant<Message, Json>& item) {
    if (const Json* refusal = std::get_if<Json>(&item)) return sink_.send(*refusal);
    const Message& message = std::get<Message>(item);
    if (message.kind == Message::Kind::Notification) return server_.note(session_, message);
    if (message.kind == Message::Kind::Response) return;  // we send no requests
    const std::shared_ptr<ClientCall> call = session_.open(message.id);
    if (!call) return sink_.send(busy(message));
    if (!Server::is_slow(message.method)) return answer(message, call);
    threads_.start([this, message, call] { answer(message, call); });
  }

  static Json busy(const Message& message) {
    return failure(message.id,
                   {kInvalidRequest,
                    "a request with this id is in progress, or there are too many requests",
                    {}});
  }

  std::optional<Json> served(const Message& message, const std::shared_ptr<ClientCall>& call) {
    std::optional<Json> reply = server_.serve(session_, message, sink_, *call);
    session_.close(message.id);
    return reply;
  }

  void answer(const Message& message, const std::shared_ptr<ClientCall>& call) {
    if (const std::optional<Json> reply = served(message, call)) sink_.send(*reply);
  }

  void batch(Incoming incoming) {
    std::vector<std::pair<Message, std::shared_ptr<ClientCall>>> calls;
    Json replies = Json::array();
    for (const auto& item : incoming.items) {
      if (const Json* refusal = std::get_if<Json>(&item)) {
        replies.push(*refusal);
        continue;
      }
      const Message& message = std::get<Message>(item);
      if (message.kind == Message::Kind::Notification) server_.note(session_, message);
      if (message.kind != Message::Kind::Request) continue;
      if (const auto call = session_.open(message.id)) {
        calls.emplace_back(message, call);
      } else {
        replies.push(busy(message));
      }
    }
    const bool slow = std::any_of(calls.begin(), calls.end(), [](const auto& pair) {
      return Server::is_slow(pair.first.method);
    });
    auto work = [this, calls = std::move(calls), replies = std::move(replies)]() mutable {
      for (const auto& [message, call] : calls) {
        if (const std::optional<Json> reply = served(message, call)) replies.push(*reply);
      }
      if (!replies.items().empty()) sink_.send(replies);
    };
    if (!slow) return work();
    threads_.start(std::move(work));
  }

  Server& server_;
  int in_;
  LineSink sink_;
  Session session_{"stdio"};
  ThreadGroup threads_;
};

}  // namespace

void serve_lines(Server& server, int in, int out) {
  std::signal(SIGPIPE, SIG_IGN);  // a write to a client that left then fails with an error
  Conversation(server, in, out).run();
}

}  // namespace kw::mcp
