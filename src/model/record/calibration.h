// What one GPU was measured to be able to do: the ceilings floors are made of. Stored per GPU.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"

namespace kw::record {

/// The best rate one kind of instruction reached.
struct Peak {
  std::string precision;    // "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp64"
  std::string instruction;  // "fma", "mma.m16n8k16", "wgmma.m64n256k16"
  double tera = 0;          // 10^12 operations per second, a multiply-add counted as two
};

struct Calibration {
  std::string uuid, gpu, driver, date;
  // Device memory, GB/s, bytes read and written together.
  double read = 0, write = 0, copy = 0, add = 0;  // only reads, only writes, 1:1, 2 reads : 1 write
  double buffer_bytes = 0;                        // each buffer's size
  std::vector<Peak> peaks;
  double launch_us = 0;    // one empty kernel after another in a graph
  double overhead_us = 0;  // two events with nothing between
  double host_us = 0;      // an empty kernel from launch to completion, as the host sees it
  int sm_clock_mhz = 0, temperature_c = 0;

  /// GB/s at a mix of bytes read and written, between the measured ones.
  double bandwidth(double read_bytes, double write_bytes) const;
  /// The best of the peaks of this precision, 0 when there is none.
  double peak(const std::string& precision) const;
  /// The best with that instruction's name beginning so ("fma", "").
  double peak(const std::string& precision, const std::string& instruction) const;
};

Json to_json(const Calibration& calibration);
/// Blame::Environment when it is not a calibration of ours.
Result<Calibration> calibration_from_json(const Json& json);

}  // namespace kw::record
