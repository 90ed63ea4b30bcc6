// Child processes: run one to its end, or keep one and talk to it in frames.
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

struct Allowed;

/// Which of our variables a child gets.
enum class Environment : uint8_t {
  WithoutKeys,  // all but those that hold keys, tokens and passwords
  Needed,       // what programs need: paths, language, settings of CUDA, PyTorch and compilers
  Everything,   // for the user's own program, or ours at the user's own work
};

struct ProcessLimits {
  double timeout_seconds = 60;
  uint64_t memory_bytes = 0;         // address space; 0 = unlimited
  uint64_t output_bytes = 64 << 20;  // more is cut off and said
  const Allowed* allowed =
      nullptr;  // files it may touch (os/landlock.h), where the kernel can enforce it
  bool confined = false;  // it runs text we did not write: as ChildOptions::allowed has it
  std::function<bool()> stop = {};  // asked often; true ends it as Ctrl-C does
  bool end_when_cut = false;  // too much on standard output ends it; else the rest is passed over
  Environment environment = Environment::WithoutKeys;
};

/// Variables that hold keys: those with a word such as KEY, TOKEN, SECRET or PASSWORD in their
/// names, and these.
void add_key_variables(const std::vector<std::string>& names);
bool is_key_variable(std::string_view name);
/// From now on, while our environment holds keys, no other process of the user can read it or our
/// memory. For our own program; a library leaves its process as it is.
void hide_keys();

struct ProcessResult {
  int exit_code = 0;  // meaningful when signal is 0 and not timed_out
  int signal = 0;
  bool timed_out = false;  // killed by us, with its whole process group
  std::string out, err;
};

/// Runs a program (no shell) to its end. An Error only if it could not be started or was
/// interrupted.
Result<ProcessResult> run_process(const std::vector<std::string>& argv, std::string_view input = {},
                                  const ProcessLimits& limits = {},
                                  const std::vector<std::string>& extra_env = {});

/// Why a conversation with a child ended.
enum class ChannelState : uint8_t { Open, TimedOut, Closed };

struct ChildOptions {
  std::vector<std::string> extra_env = {};  // NAME=value, replacing what is there
  Environment environment = Environment::WithoutKeys;
  const Allowed* allowed = nullptr;  // it runs text we did not write: it may touch these files
                                     // (os/landlock.h), behind the filter of os/call_filter.h
};

/// A kept child that speaks length-prefixed frames (u32 little endian + payload) on a socket pair
/// at its fd 3. Its stdout and stderr are collected (last 64 KiB). Killed with its process group by
/// the destructor.
class Child {
 public:
  static Result<std::unique_ptr<Child>> start(const std::vector<std::string>& argv,
                                              const ChildOptions& options = {});
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Sends one frame, with file descriptors attached (shared memory) when given.
  ChannelState send(std::string_view frame, const std::vector<int>& fds = {});
  /// Waits for one frame. A frame half received at TimedOut is continued by the next call. Ctrl-C
  /// (os/interrupt.h) kills the child and gives Closed.
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

/// The child's side: fd 3. receive() returns Closed when the parent is gone.
ChannelState child_send(std::string_view frame);
ChannelState child_receive(std::string* frame, std::vector<int>* fds = nullptr);

}  // namespace kw::os
