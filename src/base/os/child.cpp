// A worker runs fragile code: it can fill its stderr, stop reading, or die in the middle of a
// frame. None of these may block us. So both descriptors are non-blocking, and every wait is one
// poll() on the channel, the child's stderr and the interrupt descriptor, with a deadline. Threads
// that block on each descriptor would be simpler, but they cannot be stopped cleanly. Bulk data
// travels through shared memory, whose descriptors are attached to a frame. The cost: a partly
// received frame must be kept between calls (Assembly).
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "core/check.h"
#include "core/text.h"
#include "os/file_error.h"
#include "os/group_watch.h"
#include "os/interrupt.h"
#include "os/process.h"
#include "os/spawn.h"
#include "os/walls.h"

namespace kw::os {
namespace {

constexpr uint32_t kMaxFrame = 1U << 30;
constexpr size_t kMaxFds = 64;
constexpr size_t kStderrKept = 64 << 10;
constexpr int kChannelFd = 3;
// A child that does not read for this long counts as hanging.
constexpr double kSendPatience = 60;

std::string frame_header(std::string_view frame) {
  KW_CHECK(frame.size() <= kMaxFrame,
           "frames are at most 1 GiB; bulk data goes through shared memory");
  const auto n = static_cast<uint32_t>(frame.size());
  return {static_cast<char>(n), static_cast<char>(n >> 8), static_cast<char>(n >> 16),
          static_cast<char>(n >> 24)};
}

uint32_t frame_size(const std::string& header) {
  uint32_t n = 0;
  for (int i = 3; i >= 0; --i) n = n << 8 | static_cast<uint8_t>(header[static_cast<size_t>(i)]);
  return n;
}

/// sendmsg() of the unsent rest of header and payload. Descriptors are sent with the first byte.
ssize_t send_some(int fd, std::string_view header, std::string_view payload,
                  const std::vector<int>& fds, int flags) {
  iovec parts[2] = {{const_cast<char*>(header.data()), header.size()},
                    {const_cast<char*>(payload.data()), payload.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxFds * sizeof(int))] = {};
  if (!fds.empty()) {
    KW_CHECK(fds.size() <= kMaxFds, "too many descriptors for one frame");
    const size_t bytes = fds.size() * sizeof(int);
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(bytes);
    ::memcpy(CMSG_DATA(head), fds.data(), bytes);
  }
  return ::sendmsg(fd, &message, flags | MSG_NOSIGNAL);
}

void collect_fds(msghdr* message, std::vector<int>* fds) {
  for (cmsghdr* head = CMSG_FIRSTHDR(message); head != nullptr; head = CMSG_NXTHDR(message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      ::memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(int));
      fds->push_back(fd);
    }
  }
}

/// A frame that is being assembled. Memory grows with the bytes received, not with the announced
/// size.
struct Assembly {
  std::string header, payload;
  uint64_t most = kMaxFrame;

  bool complete() const { return header.size() == 4 && payload.size() == frame_size(header); }
  bool refused() const { return header.size() == 4 && frame_size(header) > most; }
  size_t wanted() const {
    return header.size() < 4 ? 4 - header.size() : frame_size(header) - payload.size();
  }
  void add(const char* bytes, size_t n) { (header.size() < 4 ? header : payload).append(bytes, n); }
  std::string take() {
    header.clear();
    return std::exchange(payload, {});
  }
};

std::string signal_text(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return fmt::format("killed by signal {} ({}{})", signal, name != nullptr ? "SIG" : "",
                     name != nullptr ? name : "unknown");
}

}  // namespace

struct Child::Impl {
  pid_t pid = -1;
  UniqueFd channel, err;
  Assembly incoming;
  std::string stderr_kept;
  bool reaped = false;
  ExitStatus status;
  GroupWatch watch;

  void drain_stderr() {
    char chunk[16384];
    for (int round = 0; err && round < 64; ++round) {
      const ssize_t n = ::read(err.get(), chunk, sizeof(chunk));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n <= 0) return err.reset();
      stderr_kept.append(chunk, static_cast<size_t>(n));
      if (stderr_kept.size() > 2 * kStderrKept)
        stderr_kept.erase(0, stderr_kept.size() - kStderrKept);
    }
  }

  /// Waits until the channel is ready for `events`; returns Open when it is.
  ChannelState wait(short events, double deadline) {
    for (;;) {
      const double left = deadline - monotonic_seconds();
      if (left <= 0) return ChannelState::TimedOut;
      pollfd polled[3] = {{channel.get(), events, 0},
                          {err ? err.get() : -1, POLLIN, 0},
                          {interrupt_fd(), POLLIN, 0}};
      const double pause = std::min({left * 1000 + 1, watch.pause_seconds() * 1000, 1e6});
      const int n = ::poll(polled, 3, static_cast<int>(pause));
      if (interrupted() || !watch.within_limits()) {
        reap();
        return ChannelState::Closed;
      }
      if (n <= 0) continue;
      if (polled[1].revents != 0) drain_stderr();
      if (polled[0].revents != 0) return ChannelState::Open;
    }
  }

  void reap() {
    if (reaped) return;
    status = kill_and_reap(pid);
    reaped = true;
    drain_stderr();
    channel.reset();
  }
};

Result<std::unique_ptr<Child>> Child::start(const std::vector<std::string>& argv,
                                            const ChildOptions& options) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return environment_error("creating a socket pair: {}", reason_of(errno));
  }
  UniqueFd ours = above_standard(UniqueFd(ends[0]));
  UniqueFd theirs = above_standard(UniqueFd(ends[1]));
  if (!ours || !theirs) return environment_error("creating a socket pair: {}", reason_of(EMFILE));
  auto [err_reader, err_writer] = KW_TRY(make_pipe());
  SpawnRequest request{argv,        options.extra_env, -1, err_writer.get(), err_writer.get(),
                       theirs.get()};
  request.environment = options.environment;
  request.walls = options.walls;
  std::unique_ptr<Child> child(new Child);
  child->impl_ = std::make_unique<Impl>();
  child->impl_->reaped = true;  // until there is a process to reap
  child->impl_->pid = KW_TRY(spawn(request));
  child->impl_->reaped = false;
  if (options.walls != nullptr && options.walls->limits.frame_bytes != 0)
    child->impl_->incoming.most = options.walls->limits.frame_bytes;
  child->impl_->watch = GroupWatch(child->impl_->pid, options.walls);
  for (const UniqueFd* fd : {&ours, &err_reader}) ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  child->impl_->channel = std::move(ours);
  child->impl_->err = std::move(err_reader);
  return child;
}

Child::~Child() { kill(); }

ChannelState Child::send(std::string_view frame, const std::vector<int>& fds) {
  const std::string header = frame_header(frame);
  const size_t total = header.size() + frame.size();
  size_t sent = 0;
  double deadline = monotonic_seconds() + kSendPatience;
  while (sent < total) {
    if (!impl_->channel) return ChannelState::Closed;
    if (auto state = impl_->wait(POLLOUT, deadline); state != ChannelState::Open) return state;
    const size_t header_sent = std::min(sent, header.size());
    const ssize_t n =
        send_some(impl_->channel.get(), std::string_view(header).substr(header_sent),
                  frame.substr(sent - header_sent), sent == 0 ? fds : std::vector<int>{}, 0);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) return ChannelState::Closed;
    sent += static_cast<size_t>(n);
    deadline = monotonic_seconds() + kSendPatience;
  }
  return ChannelState::Open;
}

ChannelState Child::receive(std::string* frame, double timeout_seconds) {
  const double deadline = monotonic_seconds() + timeout_seconds;
  std::string chunk(1 << 20, '\0');
  while (!impl_->incoming.complete()) {
    if (!impl_->channel) return ChannelState::Closed;
    if (auto state = impl_->wait(POLLIN, deadline); state != ChannelState::Open) return state;
    const size_t wanted = std::min(impl_->incoming.wanted(), chunk.size());
    const ssize_t n = ::recv(impl_->channel.get(), chunk.data(), wanted, 0);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n <= 0) return ChannelState::Closed;
    impl_->incoming.add(chunk.data(), static_cast<size_t>(n));
    if (impl_->incoming.refused()) return ChannelState::Closed;
  }
  *frame = impl_->incoming.take();
  return ChannelState::Open;
}

void Child::kill() { impl_->reap(); }

bool Child::alive() {
  if (!impl_->reaped && has_ended(impl_->pid)) impl_->reap();
  return !impl_->reaped;
}

pid_t Child::pid() const { return impl_->pid; }

std::string Child::how_it_ended() {
  if (alive()) return "";
  if (!impl_->watch.said().empty()) return std::string(trim(impl_->watch.said()));
  if (impl_->status.signal != 0) return signal_text(impl_->status.signal);
  return fmt::format("exited with code {}", impl_->status.code);
}

std::string Child::stderr_tail() {
  impl_->drain_stderr();
  const std::string& kept = impl_->stderr_kept;
  return kept.size() <= kStderrKept ? kept : kept.substr(kept.size() - kStderrKept);
}

ChannelState child_send(std::string_view frame) {
  const std::string header = frame_header(frame);
  const size_t total = header.size() + frame.size();
  for (size_t sent = 0; sent < total;) {
    const size_t header_sent = std::min(sent, header.size());
    const ssize_t n = send_some(kChannelFd, std::string_view(header).substr(header_sent),
                                frame.substr(sent - header_sent), {}, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ChannelState::Closed;
    sent += static_cast<size_t>(n);
  }
  return ChannelState::Open;
}

ChannelState child_receive(std::string* frame, std::vector<int>* fds) {
  Assembly incoming;
  std::vector<int> received;
  std::string chunk(1 << 20, '\0');
  while (!incoming.complete() && !incoming.refused()) {
    iovec part{chunk.data(), std::min(incoming.wanted(), chunk.size())};
    alignas(cmsghdr) char control[CMSG_SPACE(kMaxFds * sizeof(int))];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    const ssize_t n = ::recvmsg(kChannelFd, &message, MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    collect_fds(&message, &received);
    incoming.add(chunk.data(), static_cast<size_t>(n));
  }
  const bool complete = incoming.complete();
  if (complete) *frame = incoming.take();
  if (complete && fds != nullptr) {
    *fds = std::move(received);
  } else {
    for (int fd : received) ::close(fd);
  }
  return complete ? ChannelState::Open : ChannelState::Closed;
}

}  // namespace kw::os
