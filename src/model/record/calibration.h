// The measured peak rates of one GPU, from which floors are computed. Stored per GPU.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace kw::record {

/// The best rate that one kind of instruction reached.
struct Peak {
  std::string precision;    // "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp64"
  std::string instruction;  // "fma", "mma.m16n8k16", "wgmma.m64n256k16"
  double tera = 0;          // 10^12 operations per second; a multiply-add counts as two
};

struct Calibration {
  std::string uuid, gpu, driver, date;
  // Device memory in GB/s, counting bytes read and written.
  double read = 0, write = 0, copy = 0, add = 0;  // reads only, writes only, 1:1, 2 reads : 1 write
  double buffer_bytes = 0;                        // size of each buffer
  std::vector<Peak> peaks;
  double launch_us = 0;    // one empty kernel after another in a graph
  double overhead_us = 0;  // two events in direct succession
  double host_us = 0;      // empty kernel from launch to completion, measured on the host
  int sm_clock_mhz = 0, temperature_c = 0;

  /// GB/s for a mix of bytes read and written, interpolated between the measured mixes.
  double bandwidth(double read_bytes, double write_bytes) const;
  /// The best peak of this precision; 0 when there is none.
  double peak(const std::string& precision) const;
  /// The best peak whose instruction name starts with `instruction` ("fma", "").
  double peak(const std::string& precision, const std::string& instruction) const;
};

Json to_json(const Calibration& calibration);
/// Environment Error when it is not one of our calibrations.
Result<Calibration> calibration_from_json(const Json& json);

}  // namespace kw::record
