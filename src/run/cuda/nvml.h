// NVIDIA's management library (NVML): version string, clocks, temperature. Optional everywhere.
#pragma once

#include <memory>
#include <string>

namespace kw::cuda {

/// A number is 0 when the library does not give it.
struct NvmlReading {
  int sm_clock_mhz = 0, memory_clock_mhz = 0;  // now
  int max_sm_clock_mhz = 0, max_memory_clock_mhz = 0;
  int default_sm_clock_mhz = 0;  // the clock without throttling
  int temperature_c = 0;
  int power_w = 0;
};

/// One GPU of the library.
class Nvml {
 public:
  /// The GPU with this UUID ("GPU-…"); nullptr when there is no such library or GPU.
  static std::unique_ptr<Nvml> open(const std::string& uuid);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::string driver_version() const;  // "580.159.04"; "" when unknown
  NvmlReading read() const;
  /// Only the SM clock: fast enough to call every 50 ms.
  int sm_clock_mhz() const;

 private:
  struct Impl;
  explicit Nvml(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kw::cuda
