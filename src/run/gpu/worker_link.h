// The main process's connection to one worker process: starts it, asks it, notices when it dies. It
// knows which images that worker holds. GpuDevice decides when to replace a worker.
#pragma once

#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gpu/messages.h"
#include "os/process.h"
#include "os/shared_memory.h"

namespace kw::gpu {

/// The result of one request.
struct Answer {
  enum class State : uint8_t { Replied, TimedOut, Died } state = State::Replied;
  Reply reply;           // when Replied
  std::string how_died;  // when Died: "killed by signal 9 (SIGKILL)" and its last output
};

class WorkerLink {
 public:
  /// Starts $KERNELWRIGHT_WORKER, otherwise this binary, with the subcommand "worker-gpu", and
  /// sends Hello.
  static Result<std::unique_ptr<WorkerLink>> start(int ordinal);

  const ports::DeviceInfo& info() const { return info_; }
  pid_t pid() const { return child_->pid(); }
  bool alive() { return child_->alive(); }

  /// Sends one request and returns its reply. After TimedOut, Died or a reply with context_lost,
  /// the link must not be used.
  Answer ask(const Request& request, double timeout_seconds);

  /// Shares the arena with the worker, unless this generation is shared already. Returns an Answer
  /// only on failure.
  std::optional<Answer> share(const os::SharedMemory& arena, uint64_t generation);

  bool holds(ports::ImageId image) const;
  /// Notes that the worker holds the image. Returns an image to unload when it holds too many.
  std::optional<ports::ImageId> note_loaded(ports::ImageId image);

  /// Whether the worker keeps this input; marks it as used last.
  bool keeps(InputKey key);
  /// Notes that the worker will keep this input. Returns the keys to drop, the longest unused
  /// first, so that at most `budget` bytes are kept; never one of `needed`.
  std::vector<InputKey> note_kept(InputKey key, uint64_t bytes, uint64_t budget,
                                  const std::set<InputKey>& needed);
  void forget(InputKey key);

 private:
  WorkerLink() = default;
  Answer exchange(const Request& request, const std::vector<int>& fds, double timeout_seconds);

  std::unique_ptr<os::Child> child_;
  ports::DeviceInfo info_;
  std::deque<ports::ImageId> images_;  // oldest first
  struct Kept {
    InputKey key = 0;
    uint64_t bytes = 0;
  };
  std::list<Kept> kept_;  // longest unused first
  uint64_t kept_bytes_ = 0;
  uint64_t shared_generation_ = 0;
};

}  // namespace kw::gpu
