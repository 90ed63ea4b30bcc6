// Measures programs on a device until enough is known: asks the device for batches of samples, all
// programs interleaved in each, audits every batch and stops by the rule. The clock itself runs
// inside the device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "clock/audit.h"
#include "clock/compare.h"
#include "clock/statistics.h"
#include "clock/stopping.h"
#include "ports/device.h"

namespace kw::clock {

struct MeasureOptions {
  StoppingRule rule;
  ports::TimeProtocol protocol;   // its sample and time limits and its seed are set batch by batch
  int batch_samples = 40;         // each batch has buffers, addresses and a capture of its own
  std::vector<AuditPlan> audits;  // parallel to the programs; empty: nothing is known of outputs
  JudgeCall judge;                // of calls of programs that are not deterministic
  int judged_per_batch = 2;       // beside the last one
};

/// One program's measurement.
struct Measurement {
  record::TimingSamples samples;  // raw, all of them
  std::vector<size_t> batches;    // how many of them each batch has
  Summary summary;
  StopReason stopped = StopReason::Samples;
  int64_t audited = 0, judged = 0;      // calls
  std::optional<std::string> rejected;  // why the audit refuses it
};

struct MeasureOutcome {
  ports::RunStatus status = ports::RunStatus::Completed;
  std::string message;                    // why, when not Completed
  std::vector<Measurement> measurements;  // parallel to the programs, when Completed
};

/// An Error only for what is not the candidates' doing. Stops when every program has reason to, or
/// at the first that fails its audit.
Result<MeasureOutcome> measure(ports::Device& device,
                               const std::vector<ports::TimedProgram>& programs,
                               const MeasureOptions& options);
/// Adds the samples of another process; the first becomes the whole.
void extend(std::optional<Measurement>& whole, const Measurement& more);
/// Two programs measured together, as pairs.
std::vector<Cycle> cycles_of(const Measurement& candidate, const Measurement& baseline, int worker);
/// With method, raw samples, clock and temperature.
Json to_json(const Measurement& measurement);

}  // namespace kw::clock
