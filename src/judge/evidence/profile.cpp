#include "evidence/profile.h"

#include "compile/search.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "evidence/run_ncu.h"
#include "os/files.h"
#include "profile/sass_text.h"

namespace kw::evidence {
namespace {

constexpr uint64_t kMostProfileBytes = uint64_t{256} << 20;

/// The text of an existing profile.
Result<std::string> imported_text(const ProfileRequest& request) {
  const std::string& path = request.imported;
  if (!path.ends_with(".ncu-rep")) return os::read_file(path, kMostProfileBytes);
  if (!os::exists(path)) return input_error("there is no file " + path);
  const std::string ncu = request.ncu ? *request.ncu : compile::find_cuda_program("ncu");
  if (ncu.empty())
    return environment_error(
        "{} can be read only by Nsight Compute, and ncu was not found; convert it where ncu is "
        "installed: ncu --import {} --csv --page raw --print-units base > profile.csv",
        path, path);
  return read_report(ncu, path, request.profiler_seconds);
}

/// Verifies and times the module; false when it did not pass.
Result<bool> judge_and_time(const task::Task& task, const ProfileRequest& request,
                            const timing::BenchTools& tools, const single_run::Progress& progress,
                            ProfileReport& report) {
  timing::BenchRequest ask;
  ask.verify = request.verify;
  ask.dims = request.dims;
  ask.quick = true;
  const timing::BenchReport timed =
      KW_TRY(timing::bench_module(request.module_text, task, ask, tools, progress));
  report.verdict = timed.verdict;
  if (!record::passed(timed.verdict)) return false;
  const auto& measured = timed.candidate.measurement;
  if (measured && timed.candidate.problem.empty()) report.us = measured->summary.median;
  return true;
}

EvidenceRequest evidence_request(const task::Task& task, const ProfileRequest& request) {
  EvidenceRequest ask;
  ask.module_text = request.module_text;
  const std::string& path = request.verify.module_path;
  ask.module_name = path.substr(path.rfind('/') + 1);
  ask.task = &task;
  ask.dims = request.dims;
  ask.tunes = request.verify.tunes;
  ask.target = request.verify.target;
  ask.report = request.report;
  ask.timeout_seconds = request.verify.timeout_seconds;
  ask.profiler_seconds = request.profiler_seconds;
  ask.threads = request.verify.threads;
  ask.ncu = request.ncu;
  return ask;
}

/// The metrics by id, without their notes.
Json metrics_json(const profile::MetricSet& metrics) {
  const Json all = profile::to_json(metrics);
  return all["metrics"];
}

}  // namespace

Result<ProfileReport> profile_module(const task::Task& task, const ProfileRequest& request,
                                     const timing::BenchTools& tools,
                                     const single_run::Progress& progress) {
  ProfileReport report;
  report.module = request.verify.module_path;
  report.task_name = task.name;
  report.task_hash = task::task_hash(task);
  EvidenceRequest ask = evidence_request(task, request);
  if (!request.imported.empty()) {
    ask.imported = KW_TRY(imported_text(request));
    ask.imported_name = request.imported;
    if (ask.imported.empty()) return input_error(request.imported + " is empty");
  }
  if (tools.verify.gpu != nullptr) {
    const bool passed = KW_TRY(judge_and_time(task, request, tools, progress, report));
    if (!passed) return report;
  }
  ask.us = report.us;
  report.evidence = KW_TRY(gather_evidence(ask, tools, progress));
  if (request.plan) report.plan = plan_for(*report.evidence, task);
  return report;
}

Json to_json(const Evidence& evidence) {
  const profile::Examined& examined = evidence.examined;
  JsonWriter v;
  v("dims", evidence.dims)("target", evidence.target.name)("compiler", evidence.compiler);
  v("methods", evidence.claimed)("work", evidence.work)("floor", evidence.floor);
  v("rates_of", evidence.rates_of)("counted_at", evidence.counted_at)("scale", evidence.scale);
  v("counters", examined.counters)("no_counters", examined.no_counters);
  v("report", examined.ncu_report)("kernel", examined.metrics.kernel);
  v("metrics", metrics_json(examined.metrics))("notes", examined.metrics.notes);
  v("launches", json_list(evidence.launches, [](auto& row, const LaunchEvidence& launch) {
      row("kernel", launch.kernel)("us", launch.us)("measured", launch.measured);
      row("metrics", metrics_json(launch.metrics))("counted", metrics_json(launch.counted));
    }));
  v("roofline", examined.roofline);
  if (!examined.sass.empty()) v("sass", profile::total_facts(examined.sass));
  return v("no_sass", examined.no_sass).take();
}

Json to_json(const ProfileReport& report) {
  JsonWriter v;
  v("module", report.module);
  v.group("task", [&](auto& g) { g("name", report.task_name)("hash", report.task_hash); });
  v("verdict", report.verdict)("us", report.us)("measured", report.us.has_value());
  v("evidence", report.evidence, Zero::Omit)("plan", report.plan, Zero::Omit);
  return v.take();
}

}  // namespace kw::evidence
