// One lock per physical GPU, shared by all processes of this machine: two programs timed at once
// are both timed wrong.
#pragma once

#include <functional>
#include <string>

#include "core/result.h"

namespace kw::gpu {

/// Told why we are waiting, in one sentence.
using Notice = std::function<void(const std::string&)>;

class GpuLock {
 public:
  /// Waits up to `timeout_seconds`; says through `notice` (once) whom for. Environment Error when
  /// it stays busy. The file lies in $KERNELWRIGHT_RUNTIME_DIR, else /run/lock, else /tmp, and
  /// holds the owner's process id.
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
