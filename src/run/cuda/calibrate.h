// Measures the rates of this device: bandwidth at four mixes, arithmetic peaks, launch time, timer
// overhead. Uses the same clock as everything else. The caller stores the numbers.
#pragma once

#include "cuda/clock.h"
#include "record/calibration.h"

namespace kw::cuda {

/// Takes a few seconds. Peaks whose instructions the device lacks are left out.
FaultOr<record::Calibration> calibrate(const Context& context, UtilityKernels& utilities,
                                       double timeout_seconds);

}  // namespace kw::cuda
