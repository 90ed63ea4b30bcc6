// The story of `calibrate`: what a GPU was measured to be able to do, kept in the cache folder per
// GPU and measured again when it is of another driver or build.
#pragma once

#include <functional>
#include <string>

#include "core/result.h"
#include "ports/device.h"
#include "record/calibration.h"

namespace kw::timing {

inline constexpr double kCalibrationSeconds = 60;  // of each measurement in it

/// Measures now; a few seconds.
using Measure = std::function<Result<record::Calibration>()>;

/// Where a GPU's calibration is kept.
std::string calibration_path(const std::string& uuid);

enum class Freshness : uint8_t {
  Kept,  // what is kept will do
  New,   // measure in any case
};

struct CalibrationReport {
  record::Calibration calibration;
  bool measured = false;  // now, not read from the cache
  std::string path;       // "" when it could not be kept
};

/// What is kept for this device, or measured now and kept.
Result<CalibrationReport> calibration_of(const ports::DeviceInfo& device, const Measure& measure,
                                         Freshness freshness);

}  // namespace kw::timing
