// The `calibrate` command: the measured rates of a GPU, cached per GPU. They are measured again
// when the driver or the build changes.
#pragma once

#include <functional>
#include <string>

#include "core/result.h"
#include "ports/device.h"
#include "record/calibration.h"

namespace kw::timing {

inline constexpr double kCalibrationSeconds = 60;  // for each measurement

/// Measures now; takes a few seconds.
using Measure = std::function<Result<record::Calibration>()>;

/// The file of a GPU's calibration.
std::string calibration_path(const std::string& uuid);

enum class Freshness : uint8_t {
  Kept,  // use the cached one if it is valid
  New,   // always measure
};

struct CalibrationReport {
  record::Calibration calibration;
  bool measured = false;  // now, not read from the cache
  std::string path;       // "" when it could not be stored
};

/// The cached calibration of this device; otherwise measures and stores it.
Result<CalibrationReport> calibration_of(const ports::DeviceInfo& device, const Measure& measure,
                                         Freshness freshness);

}  // namespace kw::timing
