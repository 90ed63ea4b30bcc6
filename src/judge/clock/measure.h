// Measures programs on a device until the stopping rule is satisfied. Each batch interleaves
// samples of all programs and is audited. The device itself does the timing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "clock/audit.h"
#include "clock/paired_samples.h"
#include "clock/statistics.h"
#include "clock/stopping.h"
#include "ports/device.h"

namespace kw::clock {

struct MeasureOptions {
  StoppingRule rule;
  ports::TimeProtocol protocol;   // max_samples, max_seconds and seed are set for each batch
  int batch_samples = 40;         // each batch has its own buffers, addresses and graph capture
  std::vector<AuditPlan> audits;  // parallel to the programs; empty: outputs are not audited
  JudgeCall judge;                // compares copied calls of programs that are not deterministic
  int judged_per_batch = 2;       // copied calls to compare, besides the last call
};

/// One program's measurement.
struct Measurement {
  record::TimingSamples samples;  // all raw samples
  std::vector<size_t> batches;    // the number of samples in each batch
  Summary summary;
  StopReason stopped = StopReason::Samples;
  int64_t audited = 0, judged = 0;      // the number of calls audited by hash, and compared in full
  std::optional<std::string> rejected;  // why the audit rejects the program
};

struct MeasureOutcome {
  ports::RunStatus status = ports::RunStatus::Completed;
  std::string message;                    // the reason, when not Completed
  std::vector<Measurement> measurements;  // parallel to the programs; empty unless Completed
};

/// Returns an Error only for failures that the candidates did not cause. Stops when the rule is
/// satisfied for every program, or when one program fails its audit.
Result<MeasureOutcome> measure(ports::Device& device,
                               const std::vector<ports::TimedProgram>& programs,
                               const MeasureOptions& options);
/// Appends the samples of another process to `whole`; `more` becomes `whole` if that is not set.
void extend(std::optional<Measurement>& whole, const Measurement& more);
/// Pairs the samples of two programs that were measured together.
std::vector<Cycle> cycles_of(const Measurement& candidate, const Measurement& baseline, int worker);
/// Includes the method, raw samples, clock rate and temperature.
Json to_json(const Measurement& measurement);

}  // namespace kw::clock
