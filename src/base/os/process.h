// Child processes: run one to its end, or keep one and exchange frames with it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace kw::os {

struct Walls;

/// Which of our environment variables a child gets.
enum class Environment : uint8_t {
  WithoutKeys,  // all except those that hold keys, tokens and passwords
  Needed,       // what programs need: paths, language, settings of CUDA, PyTorch and compilers
  Everything,   // for the user's own program, or for ours when it does the user's own work
};

struct ProcessLimits {
  double timeout_seconds = 60;
  uint64_t memory_bytes = 0;         // address space; 0 = unlimited
  uint64_t output_bytes = 64 << 20;  // output beyond this is cut off, and the result says so
  const Walls* walls = nullptr;      // for text we did not write: sandbox/sandbox.h sets it
  std::function<bool()> stop = {};   // called often; true ends it as Ctrl-C does
  bool end_when_cut = false;  // too much standard output ends it; otherwise the rest is dropped
  Environment environment = Environment::WithoutKeys;
};

/// Adds names of variables that hold keys. A name that contains a word such as KEY, TOKEN, SECRET
/// or PASSWORD counts without this.
void add_key_variables(const std::vector<std::string>& names);
bool is_key_variable(std::string_view name);
/// From now on, while our environment holds keys, no other process of the user can read it or our
/// memory. For our own program only: a library must not change its host process.
void hide_keys();

struct ProcessResult {
  int exit_code = 0;  // meaningful when signal is 0 and not timed_out
  int signal = 0;
  bool timed_out = false;  // we killed it, with its whole process group
  std::string out, err;
};

/// Runs a program (no shell) to its end. Returns an Error only if it could not be started or was
/// interrupted.
Result<ProcessResult> run_process(const std::vector<std::string>& argv, std::string_view input = {},
                                  const ProcessLimits& limits = {},
                                  const std::vector<std::string>& extra_env = {});

/// The state of the channel to a child; it tells why the exchange ended.
enum class ChannelState : uint8_t { Open, TimedOut, Closed };

struct ChildOptions {
  std::vector<std::string> extra_env = {};  // NAME=value, replaces existing values
  Environment environment = Environment::WithoutKeys;
  const Walls* walls = nullptr;  // for text we did not write: sandbox/sandbox.h sets it
};

/// A child that stays alive and exchanges frames with us (u32 little endian length, then payload).
/// The channel is a socket pair at its fd 3. The last 64 KiB of its stdout and stderr are kept. The
/// destructor kills it with its process group.
class Child {
 public:
  static Result<std::unique_ptr<Child>> start(const std::vector<std::string>& argv,
                                              const ChildOptions& options = {});
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Sends one frame, with file descriptors (shared memory) attached when given.
  ChannelState send(std::string_view frame, const std::vector<int>& fds = {});
  /// Waits for one frame. The next call continues a frame that was partly received at TimedOut.
  /// Ctrl-C (os/interrupt.h) kills the child and gives Closed.
  ChannelState receive(std::string* frame, double timeout_seconds);
  void kill();
  bool alive();
  pid_t pid() const;
  /// "exited with code 1", "killed by signal 9 (SIGKILL)", or "" while it runs.
  std::string how_it_ended();
  std::string stderr_tail();

 private:
  Child() = default;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The child's side of the channel: fd 3. child_receive() returns Closed when the parent has ended.
ChannelState child_send(std::string_view frame);
ChannelState child_receive(std::string* frame, std::vector<int>* fds = nullptr);

}  // namespace kw::os
