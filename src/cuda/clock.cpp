#include "cuda/clock.h"

#include <algorithm>
#include <memory>

#include "cuda/timed_program.h"

namespace kw::cuda {
namespace {

using Lanes = std::vector<std::unique_ptr<TimedProgram>>;

/// A Fault with the program's name in front.
Fault named(const TimedProgram& lane, Fault fault) {
  fault.message = lane.program().module_name + ": " + fault.message;
  return fault;
}

bool all_done(const Lanes& lanes) {
  return std::all_of(lanes.begin(), lanes.end(), [](const auto& lane) { return lane->done(); });
}

Went run_rounds(const Lanes& lanes) {
  while (!all_done(lanes)) {
    for (const auto& lane : lanes) {
      if (Went went = lane->sample(); !went) return named(*lane, std::move(went).error());
    }
    for (size_t i = lanes.size(); i-- > 0;) {
      if (Went went = lanes[i]->sample(); !went) return named(*lanes[i], std::move(went).error());
    }
  }
  return Done{};
}

Went time_all(const Context& context, UtilityKernels& utilities,
              const std::vector<TimeRequest>& programs, const exec::TimeProtocol& protocol,
              std::vector<record::TimingSamples>& samples) {
  const Deadline deadline = deadline_in(protocol.timeout_seconds);
  Lanes lanes;
  for (const TimeRequest& request : programs) {
    lanes.push_back(
        std::make_unique<TimedProgram>(context, utilities, request, protocol, deadline));
    if (Went went = lanes.back()->prepare(); !went)
      return named(*lanes.back(), std::move(went).error());
  }
  KW_TRY(run_rounds(lanes));
  const NvmlReading reading = context.telemetry();
  for (const auto& lane : lanes) {
    samples.push_back(lane->samples());
    samples.back().sm_clock_mhz = reading.sm_clock_mhz;
    samples.back().temperature_c = reading.temperature_c;
  }
  return Done{};
}

}  // namespace

TimeReport time_programs(const Context& context, UtilityKernels& utilities,
                         const std::vector<TimeRequest>& programs,
                         const exec::TimeProtocol& protocol) {
  TimeReport report;
  Went went = time_all(context, utilities, programs, protocol, report.outcome.samples);
  if (!went) {
    const Fault& fault = went.error();
    report.outcome.status = fault.status;
    report.outcome.message = fault.message;
    report.device_lost = fault.device_lost;
  }
  return report;
}

}  // namespace kw::cuda
