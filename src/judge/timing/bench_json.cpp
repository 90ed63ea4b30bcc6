#include "core/json_writer.h"
#include "machine/devices.h"
#include "timing/bench.h"

namespace kw::timing {
namespace {

Json entry_json(const TimedEntry& entry) {
  Json json = Json::object();
  json.set("name", entry.name).set("kind", entry.kind);
  if (entry.verdict) json.set("verdict", record::verdict_name(*entry.verdict));
  if (!entry.problem.empty()) json.set("problem", entry.problem);
  if (entry.wrong) json.set("right", entry.wrong->empty());
  if (entry.wrong && !entry.wrong->empty()) json.set("wrong", *entry.wrong);
  if (entry.measurement) json.set("timing", to_json(*entry.measurement));
  if (!entry.host_us.empty()) {
    const clock::Summary summary = clock::summarise(entry.host_us);
    json.set("host_latency_us", summary.median).set("host_samples_us", json_of(entry.host_us));
  }
  if (entry.comparison) json.set("comparison", to_json(*entry.comparison));
  return json;
}

Json environment_json(const BenchReport& report) {
  Json json = machine::to_json(report.device);
  json.set("compiler", report.compiler).set("compiled_for", report.target);
  json.set("tunables", json_of(report.flags));
  json.set("workers", report.workers).set("pool_entries", report.pool);
  if (report.candidate.measurement) {
    const record::TimingSamples& samples = report.candidate.measurement->samples;
    json.set("sm_clock_mhz_while_timing", samples.sm_clock_mhz);
    json.set("temperature_c", samples.temperature_c).set("power_w", samples.power_w);
  }
  return json;
}

/// Rates and shares of the floor that follow from the measured time.
void set_rates(const BenchReport& report, Json& json) {
  if (!report.candidate.measurement) return;
  const double us = report.candidate.measurement->summary.median;
  if (us <= 0) return;
  json.set("gbps", report.work.bytes() / us * 1e-3);
  json.set("tflops", report.work.flops / us * 1e-6);
  if (report.floor.us > 0) json.set("percent_of_floor", 100 * report.floor.us / us);
}

}  // namespace

Json to_json(const BenchReport& report) {
  Json json = Json::object();
  json.set("verdict", record::to_json(report.verdict));
  json.set("gate", to_json(report.gate)).set("trust", report.gate.trust);
  json.set("dims", json_of(report.dims));
  json.set("quick", report.quick).set("replay_seeded", report.replay_seeded);
  json.set("certified", !report.quick && !report.replay_seeded && report.workers >= 3);
  json.set("deterministic", report.deterministic);
  json.set("work", to_json(report.work));
  if (report.calibration) {
    json.set("floor", to_json(report.floor));
    json.set("calibration", to_json(report.calibration->calibration));
  }
  json.set("candidate", entry_json(report.candidate));
  set_rates(report, json);
  Json rivals = Json::array();
  for (const TimedEntry& rival : report.rivals) rivals.push(entry_json(rival));
  json.set("rivals", std::move(rivals));
  if (const TimedEntry* best = report.best_rival()) {
    json.set("against", best->name).set("speedup", best->comparison->speedup);
    json.set("relation", clock::relation_name(best->comparison->relation));
  }
  if (report.estimate) json.set("estimate", to_json(*report.estimate));
  json.set("environment", environment_json(report));
  json.set("notes", json_of(report.notes));
  json.set("seconds", Json::object()
                          .set("prepare", report.seconds.prepare)
                          .set("gate", report.seconds.gate)
                          .set("timing", report.seconds.timing)
                          .set("baselines", report.seconds.baselines)
                          .set("calibration", report.seconds.calibration)
                          .set("turnaround", report.seconds.turnaround()));
  return json;
}

}  // namespace kw::timing
