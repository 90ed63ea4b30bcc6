#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/text.h"
#include "os/file_error.h"
#include "os/group_watch.h"
#include "os/interrupt.h"
#include "os/process.h"
#include "os/spawn.h"

namespace kw::os {
namespace {

// A file instead of a pipe: a child that never reads its input can then neither block us nor raise
// SIGPIPE here.
Result<UniqueFd> input_file(std::string_view bytes) {
  UniqueFd fd = above_standard(UniqueFd(::memfd_create("kernelwright-input", MFD_CLOEXEC)));
  if (!fd) return environment_error("preparing input: {}", reason_of(errno));
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return environment_error("preparing input: {}", reason_of(errno));
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

/// One output stream of the child: read to its end, kept up to a limit.
struct Stream {
  UniqueFd fd;
  std::string* kept;
  uint64_t limit;
  bool cut = false;
  int failure = 0;  // why it could not be read to its end

  void drain() {
    char chunk[65536];
    // Reads more than a pipe can hold, but a bounded amount. A child that never stops writing must
    // not outlive its deadline.
    for (int round = 0; round < 64; ++round) {
      const ssize_t n = ::read(fd.get(), chunk, sizeof(chunk));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n < 0) failure = errno;
      if (n <= 0) return fd.reset();
      const size_t room = limit > kept->size() ? static_cast<size_t>(limit - kept->size()) : 0;
      cut |= static_cast<size_t>(n) > room;
      kept->append(chunk, std::min(room, static_cast<size_t>(n)));
    }
  }
};

/// Waits briefly for output, the deadline or an interrupt.
void wait_for_output(const std::vector<Stream*>& streams, double seconds) {
  std::vector<pollfd> polled;
  for (const Stream* stream : streams) {
    if (stream->fd) polled.push_back({stream->fd.get(), POLLIN, 0});
  }
  // When all streams are closed, we wait only for the exit, which poll() cannot see, so we check
  // often.
  const double longest = polled.empty() ? 0.002 : 0.05;
  if (interrupt_fd() >= 0) polled.push_back({interrupt_fd(), POLLIN, 0});
  ::poll(polled.data(), polled.size(),
         static_cast<int>(std::clamp(seconds, 0.001, longest) * 1000));
}

}  // namespace

Result<ProcessResult> run_process(const std::vector<std::string>& argv, std::string_view input,
                                  const ProcessLimits& limits,
                                  const std::vector<std::string>& extra_env) {
  ProcessResult result;
  const UniqueFd in = KW_TRY(input_file(input));
  auto [out_reader, out_writer] = KW_TRY(make_pipe());
  auto [err_reader, err_writer] = KW_TRY(make_pipe());
  SpawnRequest request{argv, extra_env, in.get(), out_writer.get(), err_writer.get(), -1};
  request.memory_bytes = limits.memory_bytes;
  request.walls = limits.walls;
  request.environment = limits.environment;
  const pid_t pid = KW_TRY(spawn(request));
  out_writer.reset();
  err_writer.reset();
  Stream out{std::move(out_reader), &result.out, limits.output_bytes};
  Stream err{std::move(err_reader), &result.err, limits.output_bytes};
  for (Stream* stream : {&out, &err}) ::fcntl(stream->fd.get(), F_SETFL, O_NONBLOCK);

  const double deadline = monotonic_seconds() + limits.timeout_seconds;
  bool stopped = false;
  GroupWatch watch(pid, limits.walls);
  for (;;) {
    // Checked before draining: everything written before the exit is then read below.
    const bool ended = has_ended(pid);
    for (Stream* stream : {&out, &err}) {
      if (stream->fd) stream->drain();
    }
    stopped = interrupted() || (limits.stop && limits.stop());
    if (ended || stopped || (limits.end_when_cut && out.cut) || !watch.within_limits()) break;
    const double left = deadline - monotonic_seconds();
    result.timed_out = left <= 0;
    if (result.timed_out) break;
    wait_for_output({&out, &err}, left);
  }
  const ExitStatus status = kill_and_reap(pid);
  if (stopped) return environment_error("interrupted");
  result.exit_code = status.code;
  result.signal = status.signal;
  for (Stream* stream : {&out, &err}) {
    if (stream->failure != 0)
      return environment_error("reading what {} wrote: {}; try again", argv[0],
                               reason_of(stream->failure));
    if (stream->cut) *stream->kept += fmt::format("\n[cut after {}]\n", human_bytes(stream->limit));
  }
  result.err += watch.said();
  return result;
}

}  // namespace kw::os
