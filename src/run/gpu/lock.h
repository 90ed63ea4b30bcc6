// One lock per physical GPU for all processes of this machine: two programs timed at once disturb
// each other's times.
#pragma once

#include <functional>
#include <string>

#include "core/result.h"

namespace kw::gpu {

/// Called with one sentence that says why we wait.
using Notice = std::function<void(const std::string&)>;

class GpuLock {
 public:
  /// Waits up to `timeout_seconds` and calls `notice` once with the holder. Environment Error when
  /// the GPU stays busy. The file is in $KERNELWRIGHT_RUNTIME_DIR, otherwise /run/lock, otherwise
  /// /tmp. It holds the owner's process id.
  static Result<GpuLock> take(const std::string& uuid, double timeout_seconds,
                              const Notice& notice);
  GpuLock(GpuLock&& other) noexcept;
  GpuLock& operator=(GpuLock&&) = delete;
  ~GpuLock();

 private:
  explicit GpuLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace kw::gpu
