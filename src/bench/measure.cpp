#include "bench/measure.h"

#include <algorithm>

#include "base/check.h"

namespace kw::bench {
namespace {

using exec::RunStatus;

bool all_stopped(const std::vector<StoppingCriterion>& criteria) {
  return std::all_of(criteria.begin(), criteria.end(),
                     [](const auto& c) { return c.reason().has_value(); });
}

/// The next batch's protocol: no more samples than the program with the fewest may still take.
exec::TimeProtocol batch_protocol(const MeasureOptions& options,
                                  const std::vector<StoppingCriterion>& criteria) {
  exec::TimeProtocol protocol = options.protocol;
  int64_t fewest = options.rule.max_samples;
  for (const StoppingCriterion& criterion : criteria) {
    fewest = std::min(fewest, static_cast<int64_t>(criterion.samples().size()));
  }
  const bool first = fewest == 0;
  protocol.max_samples = static_cast<int>(std::clamp<int64_t>(options.rule.max_samples - fewest, 1,
                                                              std::max(1, options.batch_samples)));
  protocol.max_seconds = options.rule.max_seconds;
  // Clocks and caches are warm after the first batch; one call suffices to load what was set up
  // anew.
  if (!first) protocol.warmup_calls = std::min(protocol.warmup_calls, 1);
  return protocol;
}

}  // namespace

Result<MeasureOutcome> measure(exec::Device& device,
                               const std::vector<exec::TimedProgram>& programs,
                               const MeasureOptions& options) {
  MeasureOutcome outcome;
  std::vector<StoppingCriterion> criteria(programs.size(), StoppingCriterion(options.rule));
  outcome.measurements.resize(programs.size());
  while (!all_stopped(criteria)) {
    const exec::TimeOutcome batch =
        KW_TRY(device.time(programs, batch_protocol(options, criteria)));
    if (batch.status != RunStatus::Completed) {
      outcome.status = batch.status;
      outcome.message = batch.message;
      outcome.measurements.clear();
      return outcome;
    }
    KW_CHECK(batch.samples.size() == programs.size(), "a device answers for every program");
    for (size_t i = 0; i < programs.size(); ++i) {
      KW_CHECK(!batch.samples[i].microseconds.empty(), "a completed batch has samples");
      // All go on until all are done: an interleaved pair stays a pair.
      criteria[i].add(batch.samples[i].microseconds);
      outcome.measurements[i].samples = batch.samples[i];
    }
  }
  for (size_t i = 0; i < programs.size(); ++i) {
    Measurement& measurement = outcome.measurements[i];
    measurement.samples.microseconds = criteria[i].samples();
    measurement.summary = summarise(criteria[i].samples());
    measurement.stopped = *criteria[i].reason();
  }
  return outcome;
}

Json to_json(const Measurement& measurement) {
  Json json = to_json(measurement.summary);
  json.set("method", measurement.samples.method);
  json.set("stopped_by", stop_reason_name(measurement.stopped));
  json.set("sm_clock_mhz", measurement.samples.sm_clock_mhz);
  json.set("temperature_c", measurement.samples.temperature_c);
  Json raw = Json::array();
  for (double us : measurement.samples.microseconds) raw.push(us);
  json.set("samples_us", std::move(raw));
  return json;
}

}  // namespace kw::bench
