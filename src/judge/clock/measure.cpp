// The problem: the number of samples a program needs is not known in advance. The device therefore
// takes small batches, and a stopping criterion per program decides after each batch. All programs
// stay in every batch until all criteria are satisfied, so that samples stay paired. The
// alternative, one program after the other, would add clock and temperature drift to the
// comparison. The cost: a stable program is sampled as often as the noisiest one beside it. Each
// batch is audited at once; the first mismatch ends the measurement.
#include "clock/measure.h"

#include <algorithm>

#include "core/check.h"
#include "core/json_writer.h"

namespace kw::clock {
namespace {

using ports::RunStatus;

constexpr double kLaterWarmup = 0.03;

bool all_stopped(const std::vector<StoppingCriterion>& criteria) {
  return std::all_of(criteria.begin(), criteria.end(),
                     [](const auto& c) { return c.reason().has_value(); });
}

bool all_deterministic(const MeasureOptions& options) {
  return std::all_of(options.audits.begin(), options.audits.end(),
                     [](const AuditPlan& plan) { return plan.deterministic; });
}

/// The protocol of the next batch; it never exceeds the remaining number of samples.
ports::TimeProtocol batch_protocol(const MeasureOptions& options, size_t taken, uint64_t batch) {
  ports::TimeProtocol protocol = options.protocol;
  const int64_t left = options.rule.max_samples - static_cast<int64_t>(taken);
  protocol.max_samples =
      static_cast<int>(std::clamp<int64_t>(left, 1, std::max(1, options.batch_samples)));
  protocol.max_seconds = options.rule.max_seconds;
  // The clocks are up after the first batch; new buffers need only a short warm-up.
  if (batch > 0) protocol.warmup_seconds = std::min(protocol.warmup_seconds, kLaterWarmup);
  protocol.seed = options.protocol.seed + 0x9e3779b97f4a7c15u * (batch + 1);
  protocol.copies_out = all_deterministic(options) ? 0 : options.judged_per_batch;
  return protocol;
}

void add_samples(Measurement& measurement, const ports::TimedResult& result) {
  const std::vector<double> before = std::move(measurement.samples.microseconds);
  const int64_t discarded = measurement.samples.discarded;
  measurement.samples = result.samples;
  measurement.samples.discarded += discarded;
  measurement.samples.microseconds.insert(measurement.samples.microseconds.begin(), before.begin(),
                                          before.end());
  measurement.batches.push_back(result.samples.microseconds.size());
}

void audit(const MeasureOptions& options, size_t index, const ports::TimedProgram& program,
           const ports::TimedResult& result, Measurement& measurement) {
  if (options.audits.empty()) return;
  const AuditPlan& plan = options.audits[index];
  measurement.rejected = find_mismatch(*program.program, plan, result);
  measurement.audited += static_cast<int64_t>(plan.expected.empty() ? 0 : result.audits.size());
  if (plan.deterministic || !options.judge) return;
  for (const ports::CopiedCall& call : result.copied) {
    ++measurement.judged;
    if (measurement.rejected) return;
    measurement.rejected = options.judge(index, call);
  }
}

}  // namespace

Result<MeasureOutcome> measure(ports::Device& device,
                               const std::vector<ports::TimedProgram>& programs,
                               const MeasureOptions& options) {
  KW_CHECK(options.audits.empty() || options.audits.size() == programs.size(),
           "one audit plan per program");
  MeasureOutcome outcome;
  std::vector<StoppingCriterion> criteria(programs.size(), StoppingCriterion(options.rule));
  outcome.measurements.resize(programs.size());
  bool rejected = false;
  for (uint64_t batch = 0; !rejected && !all_stopped(criteria); ++batch) {
    const ports::TimeOutcome timed =
        KW_TRY(device.time(programs, batch_protocol(options, criteria[0].samples().size(), batch)));
    if (timed.status != RunStatus::Completed) {
      outcome.status = timed.status;
      outcome.message = timed.message;
      outcome.measurements.clear();
      return outcome;
    }
    KW_CHECK(timed.results.size() == programs.size(), "a device answers for every program");
    for (size_t i = 0; i < programs.size(); ++i) {
      const ports::TimedResult& result = timed.results[i];
      KW_CHECK(!result.samples.microseconds.empty(), "a completed batch has samples");
      // Every program gets samples until all are done, so that samples stay paired.
      criteria[i].add(result.samples.microseconds);
      add_samples(outcome.measurements[i], result);
      audit(options, i, programs[i], result, outcome.measurements[i]);
      rejected = rejected || outcome.measurements[i].rejected.has_value();
    }
  }
  for (size_t i = 0; i < programs.size(); ++i) {
    Measurement& measurement = outcome.measurements[i];
    measurement.summary = summarise(measurement.samples.microseconds);
    measurement.stopped = criteria[i].reason().value_or(StopReason::Samples);
  }
  return outcome;
}

void extend(std::optional<Measurement>& whole, const Measurement& more) {
  if (!whole) {
    whole = more;
    return;
  }
  auto& samples = whole->samples.microseconds;
  samples.insert(samples.end(), more.samples.microseconds.begin(), more.samples.microseconds.end());
  whole->samples.discarded += more.samples.discarded;
  whole->samples.clocks_low = whole->samples.clocks_low || more.samples.clocks_low;
  whole->samples.temperature_c = more.samples.temperature_c;
  whole->batches.insert(whole->batches.end(), more.batches.begin(), more.batches.end());
  whole->audited += more.audited;
  whole->judged += more.judged;
  if (more.rejected) whole->rejected = more.rejected;
  whole->summary = summarise(samples);
}

std::vector<Cycle> cycles_of(const Measurement& candidate, const Measurement& baseline,
                             int worker) {
  KW_CHECK(candidate.batches == baseline.batches, "both were measured together");
  std::vector<Cycle> cycles;
  size_t start = 0;
  for (size_t size : candidate.batches) {
    const auto part = [&](const Measurement& of) {
      const auto begin = of.samples.microseconds.begin() + static_cast<ptrdiff_t>(start);
      return std::vector<double>(begin, begin + static_cast<ptrdiff_t>(size));
    };
    cycles.push_back({worker, part(candidate), part(baseline)});
    start += size;
  }
  return cycles;
}

Json to_json(const Measurement& m) {
  const record::TimingSamples& s = m.samples;
  JsonWriter v;
  list_fields(v, m.summary);
  v("method", s.method)("stopped_by", stop_reason_name(m.stopped));
  v("calls_per_sample", s.calls_per_sample)("buffer_sets", s.buffer_sets);
  v("overhead_us", s.overhead_us)("host_us", s.host_us)("span_us", s.span_us, Zero::Omit);
  v("discarded", s.discarded)("clocks_low", s.clocks_low)("audited_calls", m.audited);
  v("judged_calls", m.judged)("rejected", m.rejected, Zero::Omit)("sm_clock_mhz", s.sm_clock_mhz);
  v("temperature_c", s.temperature_c)("power_w", s.power_w)("batches", m.batches);
  v("samples_us", s.microseconds);
  return v.take();
}

}  // namespace kw::clock
