// What NVIDIA's management library knows beside the driver: version string, clocks, temperature.
// Optional everywhere.
#pragma once

#include <string>

namespace kw::cuda {

/// Numbers are 0 where the library does not tell.
struct NvmlReading {
  bool available = false;
  std::string driver_version;                  // "580.159.04"
  int sm_clock_mhz = 0, memory_clock_mhz = 0;  // now
  int max_sm_clock_mhz = 0, max_memory_clock_mhz = 0;
  int temperature_c = 0;
};

/// Reads the GPU with this UUID ("GPU-…"); `available` is false when there is no such library or
/// GPU.
NvmlReading read_nvml(const std::string& uuid);

}  // namespace kw::cuda
