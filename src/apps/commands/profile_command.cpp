#include <fmt/core.h>

#include "commands/command.h"
#include "commands/judging_options.h"
#include "commands/values.h"
#include "core/text.h"
#include "evidence/profile.h"
#include "judge/judge.h"
#include "os/files.h"
#include "profile/profile_text.h"
#include "profile/sass_text.h"
#include "reference/load_reference.h"

namespace kw::commands {
namespace {

Result<evidence::ProfileRequest> profile_request(const Args& args, bool plan) {
  const binding::BindingRequest bindings = KW_TRY(binding_options(args));
  evidence::ProfileRequest request;
  request.verify = verify_options(args, bindings);
  request.verify.module_path = args.positionals.front();
  if (request.verify.reference_path.empty())
    return input_error("missing required option --reference REF: a Python file or a task folder");
  request.dims = bindings.dims;
  request.imported = args.one("--ncu");
  request.report = args.one("--report");
  request.profiler_seconds = args.number("--profiler-time");
  request.plan = plan;
  request.module_text = KW_TRY(os::read_file(request.verify.module_path, kMostModuleBytes));
  KW_TRY(check_tunes(request.module_text, request.verify.tunes));
  return request;
}

Result<evidence::ProfileReport> profile(const Args& args, Io& io, bool plan) {
  const evidence::ProfileRequest request = KW_TRY(profile_request(args, plan));
  const auto progress = [&io](const std::string& what) { io.progress(what); };
  progress("reading the reference");
  const task::Task task = KW_TRY(reference::load_reference({request.verify.reference_path,
                                                            args.one("--function"),
                                                            args.all("--input"),
                                                            request.dims,
                                                            reference::open_torch(),
                                                            false,
                                                            {},
                                                            args.one("--mode"),
                                                            args.one("--device")}));
  const auto machine = KW_TRY(open_bench_machine(args, io));
  if (!machine->no_gpu().empty()) io.note("no GPU: " + machine->no_gpu());
  return evidence::profile_module(task, request, machine->tools(), progress);
}

std::string head_text(const evidence::ProfileReport& report, const evidence::Evidence& evidence) {
  std::string text =
      fmt::format("{}  {}  {}  {}\n", report.module.substr(report.module.rfind('/') + 1),
                  report.task_name, task::dims_text(evidence.dims), evidence.target.name);
  if (report.us)
    text += fmt::format("{:.2f} us by the clock, judged right\n", *report.us);
  else
    text += "not judged or timed: no GPU was used\n";
  text += fmt::format("floor {:.2f} us, set by {} (rates of {})\n", evidence.floor.us,
                      evidence.floor.bound, evidence.rates_of);
  if (!evidence.counted_at.empty() && evidence.scale != 1)
    text += fmt::format("counted on the virtual GPU at {}, scaled by {:.4g}\n", evidence.counted_at,
                        evidence.scale);
  return text;
}

std::string launches_text(const evidence::Evidence& evidence) {
  if (evidence.launches.size() < 2) return "";
  std::string text = "launches\n";
  for (size_t i = 0; i < evidence.launches.size(); ++i) {
    const evidence::LaunchEvidence& launch = evidence.launches[i];
    text += fmt::format("  {:>2}  {:>10.2f} us {}  {}{}\n", i + 1, launch.us,
                        launch.measured ? "profiled " : "estimated", launch.kernel,
                        i == evidence.dearest ? "  <- the metrics below" : "");
  }
  return text;
}

std::string evidence_text(const evidence::ProfileReport& report) {
  const evidence::Evidence& evidence = *report.evidence;
  const profile::Examined& examined = evidence.examined;
  std::string text = head_text(report, evidence) + launches_text(evidence) + "\n";
  if (report.plan) text += profile::metrics_text(examined.metrics);
  if (!examined.counters) text += "no hardware counters: " + examined.no_counters + "\n";
  if (!examined.ncu_report.empty()) text += "the profiler's report: " + examined.ncu_report + "\n";
  if (report.plan && examined.no_sass.empty())
    text += "machine code: " + profile::facts_line(profile::total_facts(examined.sass)) + "\n";
  else if (report.plan)
    text += "no machine code: " + examined.no_sass + "\n";
  text += "\n" + profile::roofline_text(examined.roofline);
  if (report.plan) text += "\n" + profile::plan_text(*report.plan);
  return text;
}

Result<int> finish(const Args& args, Io& io, bool plan) {
  const evidence::ProfileReport report = KW_TRY(profile(args, io, plan));
  if (!report.ok()) {
    io.print_error("it did not pass, so it was not profiled: " +
                   judge::verdict_reason(*report.verdict));
    return io.finish(kCandidateFailed, to_json(report));
  }
  io.print(evidence_text(report));
  return io.finish(kOk, to_json(report));
}

}  // namespace

Result<int> profile_command(const Args& args, Io& io) { return finish(args, io, true); }
Result<int> roofline_command(const Args& args, Io& io) { return finish(args, io, false); }

}  // namespace kw::commands
