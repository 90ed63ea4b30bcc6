// Measures programs on a device until enough is known: asks the device for batches of samples, all
// programs interleaved in each, and stops by the rule. The clock itself runs inside the device.
#pragma once

#include <string>
#include <vector>

#include "bench/statistics.h"
#include "bench/stopping.h"
#include "exec/device.h"

namespace kw::bench {

struct MeasureOptions {
  StoppingRule rule;
  exec::TimeProtocol protocol;  // its sample and time limits are set batch by batch
  int batch_samples = 40;
};

/// One program's measurement.
struct Measurement {
  record::TimingSamples samples;  // raw, all of them
  Summary summary;
  StopReason stopped = StopReason::Samples;
};

struct MeasureOutcome {
  exec::RunStatus status = exec::RunStatus::Completed;
  std::string message;                    // why, when not Completed
  std::vector<Measurement> measurements;  // parallel to the programs, when Completed
};

/// An Error only for what is not the candidates' doing. Stops when every program has reason to.
Result<MeasureOutcome> measure(exec::Device& device,
                               const std::vector<exec::TimedProgram>& programs,
                               const MeasureOptions& options);
/// With method, raw samples, clock and temperature.
Json to_json(const Measurement& measurement);

}  // namespace kw::bench
