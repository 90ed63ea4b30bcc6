// Measures what this device can do: bandwidth at four mixes, arithmetic peaks, launch floor, timer
// overhead. Uses the same clock as everything else. Where the numbers are kept is decided
// elsewhere.
#pragma once

#include "cuda/clock.h"
#include "record/calibration.h"

namespace kw::cuda {

/// A few seconds. Peaks whose instructions the device lacks are left out.
Got<record::Calibration> calibrate(const Context& context, UtilityKernels& utilities,
                                   double timeout_seconds);

}  // namespace kw::cuda
