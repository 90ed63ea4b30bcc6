// What NVIDIA's management library knows beside the driver: version string, clocks, temperature.
// Optional everywhere.
#pragma once

#include <memory>
#include <string>

namespace kw::cuda {

/// Numbers are 0 where the library does not tell.
struct NvmlReading {
  int sm_clock_mhz = 0, memory_clock_mhz = 0;  // now
  int max_sm_clock_mhz = 0, max_memory_clock_mhz = 0;
  int default_sm_clock_mhz = 0;  // what it runs at when nothing holds it back
  int temperature_c = 0;
  int power_w = 0;
};

/// One GPU as the library sees it.
class Nvml {
 public:
  /// The GPU with this UUID ("GPU-…"); nullptr when there is no such library or GPU.
  static std::unique_ptr<Nvml> open(const std::string& uuid);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::string driver_version() const;  // "580.159.04", "" when not told
  NvmlReading read() const;
  /// Only the SM clock: quick enough for every 50 ms.
  int sm_clock_mhz() const;

 private:
  struct Impl;
  explicit Nvml(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kw::cuda
