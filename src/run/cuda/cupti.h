// A second opinion about times: NVIDIA's profiling library stamps kernels, copies and fills itself.
// Optional; only for processes whose own times are not the ones that count, since it slows
// launches.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace kw::cuda {

class Cupti {
 public:
  /// nullptr when there is no such library, or it does not want to.
  static std::unique_ptr<Cupti> open();
  ~Cupti();
  Cupti(const Cupti&) = delete;
  Cupti& operator=(const Cupti&) = delete;

  /// What is queued from now on is stamped.
  bool begin();
  /// Microseconds from the first start to the last end of what was queued since begin() and has
  /// ended; nothing when nothing was seen.
  std::optional<double> end();

 private:
  struct Impl;
  explicit Cupti(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kw::cuda
