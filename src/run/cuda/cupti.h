// A second measurement of times: NVIDIA's profiling library (CUPTI) timestamps kernels, copies and
// fills itself. Optional. It slows launches, so only processes whose own times do not count use it.
#pragma once

#include <memory>
#include <optional>

namespace kw::cuda {

class Cupti {
 public:
  /// nullptr when there is no such library, or it refuses to start.
  static std::unique_ptr<Cupti> open();
  ~Cupti();
  Cupti(const Cupti&) = delete;
  Cupti& operator=(const Cupti&) = delete;

  /// Work that is queued from now on gets timestamps.
  bool begin();
  /// Microseconds from the first start to the last end of the work that was queued since begin()
  /// and has ended; empty when there was none.
  std::optional<double> end();

 private:
  struct Impl;
  explicit Cupti(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kw::cuda
