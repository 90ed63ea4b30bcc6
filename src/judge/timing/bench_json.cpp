#include "core/json_writer.h"
#include "machine/devices.h"
#include "sandbox/sandbox.h"
#include "timing/bench.h"

namespace kw::timing {
namespace {

Json environment_json(const BenchReport& report) {
  JsonWriter v(machine::to_json(report.device));
  v("compiler", report.compiler)("compiled_for", report.target)("tunables", report.flags);
  v("workers", report.workers)("pool_entries", report.pool);
  if (report.candidate.measurement) {
    const record::TimingSamples& samples = report.candidate.measurement->samples;
    v("sm_clock_mhz_while_timing", samples.sm_clock_mhz)("temperature_c", samples.temperature_c);
    v("power_w", samples.power_w);
  }
  return v.take();
}

/// Rates and shares of the floor that follow from the measured time.
void add_rates(const BenchReport& report, JsonWriter& v) {
  if (!report.candidate.measurement) return;
  const double us = report.candidate.measurement->summary.median;
  if (us <= 0) return;
  v("gbps", report.work.bytes() / us * 1e-3)("tflops", report.work.flops / us * 1e-6);
  if (report.floor.us > 0) v("percent_of_floor", 100 * report.floor.us / us);
}

}  // namespace

void fields(auto& v, TimedEntry& e) {
  v("name", e.name)("kind", e.kind);
  if (e.verdict) v("verdict", record::verdict_name(*e.verdict));
  v("problem", e.problem, Zero::Omit);
  if (e.wrong) v("right", e.wrong->empty())("wrong", *e.wrong, Zero::Omit);
  v("timing", e.measurement, Zero::Omit);
  if (!e.host_us.empty())
    v("host_latency_us", clock::summarise(e.host_us).median)("host_samples_us", e.host_us);
  v("comparison", e.comparison, Zero::Omit);
}

void fields(auto& v, BenchSeconds& s) {
  v("prepare", s.prepare)("gate", s.gate)("timing", s.timing)("baselines", s.baselines);
  v("calibration", s.calibration)("turnaround", s.turnaround());
}

Json to_json(const BenchReport& report) {
  JsonWriter v;
  v("verdict", report.verdict)("gate", report.gate)("trust", report.gate.trust);
  v("certifies", report.gate.certifies());
  v("dims", report.dims)("quick", report.quick)("replay_seeded", report.replay_seeded);
  v("certified", !report.quick && !report.replay_seeded && report.workers >= 3);
  v("deterministic", report.deterministic)("work", report.work);
  if (report.calibration) v("floor", report.floor)("calibration", report.calibration->calibration);
  v("candidate", report.candidate);
  add_rates(report, v);
  v("rivals", report.rivals);
  if (const TimedEntry* best = report.best_rival()) {
    v("against", best->name)("speedup", best->comparison->speedup);
    v("relation", clock::relation_name(best->comparison->relation));
  }
  v("unconfined", sandbox::started_unconfined(), Zero::Omit);
  v("estimate", report.estimate, Zero::Omit)("environment", environment_json(report));
  return v("notes", report.notes)("seconds", report.seconds).take();
}

}  // namespace kw::timing
