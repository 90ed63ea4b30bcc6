// Starts a program with given descriptors in its own process group; the program dies with us.
// Internal to os: run_process() and Child use it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/result.h"
#include "os/process.h"

namespace kw::os {

struct Walls;

/// A descriptor that closes itself.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() { reset(); }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

struct SpawnRequest {
  std::vector<std::string> argv;
  std::vector<std::string> extra_env;  // NAME=value, replaces existing values
  int in = -1, out = -1, err = -1;     // become 0, 1, 2; -1 = /dev/null
  int channel = -1;                    // becomes 3 when given
  uint64_t memory_bytes = 0;           // RLIMIT_AS; 0 = unchanged
  const Walls* walls = nullptr;        // entered before exec
  Environment environment = Environment::WithoutKeys;
};

/// Starts the program. The Error says why it could not start (not found, not executable …).
Result<pid_t> spawn(const SpawnRequest& request);

/// A pipe. Both ends are close-on-exec and numbered above the standard descriptors.
Result<std::pair<UniqueFd, UniqueFd>> make_pipe();
/// The same descriptor under a number that is not 0 to 3.
UniqueFd above_standard(UniqueFd fd);

/// How a process ended: one of the two is set.
struct ExitStatus {
  int code = 0;
  int signal = 0;
};
/// Whether the process has ended. It stays a zombie, so its number is not reused yet.
bool has_ended(pid_t pid);
/// Kills the whole process group, waits for the leader and returns how it ended.
ExitStatus kill_and_reap(pid_t pid);
/// Seconds on a clock that never jumps backwards or forwards.
double monotonic_seconds();

}  // namespace kw::os
