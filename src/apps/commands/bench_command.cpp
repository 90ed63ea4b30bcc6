// bench, compare and calibrate: commands that time. The time of a wrong kernel means nothing. So
// bench puts the candidate through the gate first, and then times it on the same devices. compare
// does the same when it has a reference; without one it only compares outputs and says so. A file
// that is not a module is imported or recorded first, which needs the task and a device. Without a
// GPU, bench gives an estimate and says that it is one; compare and calibrate are errors. This file
// only turns options into requests and reports into text and exit codes.
#include <algorithm>

#include "binding/load.h"
#include "commands/bench_text.h"
#include "commands/candidate_file.h"
#include "commands/command.h"
#include "commands/judging_options.h"
#include "commands/values.h"
#include "core/text.h"
#include "os/files.h"
#include "reference/load_reference.h"
#include "timing/bench_tools.h"
#include "verification/verify_tools.h"

namespace kw::commands {

namespace {

/// Reads --versus: torch modes, modules and py: names, separated by commas.
Status read_versus(const Args& args, timing::BenchRequest& request) {
  if (!args.given("--versus")) return Done{};
  const std::vector<std::string> modes = options::choices_of(*args.command->find("--versus"));
  for (const std::string& given : args.all("--versus")) {
    for (const std::string& word : split(given, ',')) {
      const std::string name(trim(word));
      if (name.ends_with(".cu")) {
        if (!os::exists(name)) return input_error("--versus: there is no file " + name);
        request.modules.push_back(name);
      } else if (std::ranges::count(modes, name) > 0 ||
                 (name.starts_with("py:") && name.size() > 3)) {
        request.torch_modes.push_back(name);
      } else {
        return input_error(
            "--versus: '{}' is neither a .cu file, nor py:module.function, nor one of {}{}", name,
            join(modes, ", "), did_you_mean(name, modes));
      }
    }
  }
  return Done{};
}

Result<timing::BenchRequest> bench_request(const Args& args, const std::string& module) {
  const binding::BindingRequest bindings = KW_TRY(binding_options(args));
  timing::BenchRequest request;
  request.verify = verify_options(args, bindings);
  request.verify.module_path = module;
  request.dims = bindings.dims;
  request.quick = args.has("--quick");
  KW_TRY(read_versus(args, request));
  return request;
}

timing::BenchReport refused_bench(const verification::CandidateText& candidate,
                                  const task::Task& task, const timing::BenchRequest& request,
                                  const ports::DeviceInfo& device) {
  timing::BenchReport report;
  report.gate = verification::refused_report(candidate, task, request.verify);
  report.verdict = report.gate.gate.verdict;
  report.device = device;
  report.candidate.name = report.gate.module_name;
  report.candidate.kind = "candidate";
  report.candidate.verdict = report.verdict;
  return report;
}

Result<timing::BenchReport> bench(const Args& args, Io& io, timing::BenchRequest request) {
  const std::string text = KW_TRY(os::read_file(request.verify.module_path, kMostModuleBytes));
  KW_TRY(check_tunes(text, request.verify.tunes));
  const bool foreign = needs_reading(request.verify.module_path, text);
  const auto progress = [&io](const std::string& what) { io.progress(what); };
  const verification::CrossCheckMode mode =
      KW_TRY(verification::cross_check_mode(args.one("--cross-check")));
  const auto torch = reference::open_torch();
  progress("reading the reference");
  const task::Task task = KW_TRY(
      reference::load_reference({request.verify.reference_path,
                                 args.one("--function"),
                                 foreign ? task_inputs(args.all("--input")) : args.all("--input"),
                                 request.dims,
                                 torch,
                                 false,
                                 {},
                                 args.one("--mode"),
                                 args.one("--device")}));
  const auto machine = KW_TRY(open_bench_machine(args, io, !request.torch_modes.empty()));
  if (!machine->no_gpu().empty()) io.note("no GPU: " + machine->no_gpu());
  timing::BenchTools tools = machine->tools();
  tools.verify.cross_check = verification::open_cross_check(mode, KW_VERSION, torch);
  if (!foreign) return timing::bench_module(text, task, request, tools, progress);
  tools.verify.cross_check = verification::begin_cross_check(
      tools.verify.cross_check, KW_TRY(verification::with_dims(task, request.dims)));
  const ports::Device& judge =
      tools.verify.gpu != nullptr ? *tools.verify.gpu : *tools.verify.virtual_gpu;
  const verification::CandidateText candidate = KW_TRY(
      read_candidate_file(request.verify.module_path, args, task, request.dims, judge.info(), io));
  if (candidate.refused) return refused_bench(candidate, task, request, judge.info());
  return timing::bench_module(candidate.text, task, request, tools, progress);
}

int bench_code(const timing::BenchReport& report) {
  if (std::holds_alternative<record::Unknown>(report.verdict)) return kEnvironment;
  if (!record::passed(report.verdict)) return kCandidateFailed;
  return report.candidate.problem.empty() ? kOk : kEnvironment;
}

int finish(const timing::BenchReport& report, Io& io) {
  io.print(bench_text(report, io.style()));
  return io.finish(bench_code(report), to_json(report));
}

Result<timing::CompareReport> compare(const Args& args, Io& io) {
  timing::CompareRequest request;
  request.bindings = KW_TRY(binding_options(args));
  request.inputs = KW_TRY(input_options(args));
  request.seed = static_cast<uint64_t>(args.integer("--seed"));
  request.target = args.one("--target");
  request.timeout_seconds = args.number("--timeout");
  request.quick = args.has("--quick");
  const kernel::Module first = KW_TRY(binding::load_module(args.positionals[0]));
  const kernel::Module second = KW_TRY(binding::load_module(args.positionals[1]));
  const auto machine = KW_TRY(open_bench_machine(args, io));
  if (!machine->no_gpu().empty()) {
    return environment_error("compare needs a GPU to time modules: " + machine->no_gpu());
  }
  const timing::BenchTools& tools = machine->tools();
  return timing::compare_modules(first, second, request, *tools.verify.compiler, *tools.verify.gpu,
                                 tools.renew,
                                 [&io](const std::string& what) { io.progress(what); });
}

}  // namespace

Result<int> bench_command(const Args& args, Io& io) {
  const timing::BenchRequest request = KW_TRY(bench_request(args, args.positionals.front()));
  if (request.verify.reference_path.empty())
    return input_error("missing required option --reference REF: a Python file or a task folder");
  return finish(KW_TRY(bench(args, io, request)), io);
}

Result<int> compare_command(const Args& args, Io& io) {
  if (args.positionals.size() != 2)
    return input_error("compare needs two modules: compare A.cu B.cu");
  if (!args.one("--reference").empty()) {
    timing::BenchRequest request = KW_TRY(bench_request(args, args.positionals[0]));
    request.modules.push_back(args.positionals[1]);
    return finish(KW_TRY(bench(args, io, std::move(request))), io);
  }
  const timing::CompareReport report = KW_TRY(compare(args, io));
  io.print(compare_text(report, io.style()));
  return io.finish(report.ok() ? kOk : kCandidateFailed, to_json(report));
}

Result<int> calibrate_command(const Args& args, Io& io) {
  const auto machine = KW_TRY(open_bench_machine(args, io));
  if (!machine->no_gpu().empty())
    return environment_error("calibrate needs a GPU: " + machine->no_gpu());
  io.progress("measuring bandwidths and peaks");
  const timing::BenchTools& tools = machine->tools();
  const auto report = KW_TRY(
      timing::calibration_of(tools.verify.gpu->info(), tools.calibrate, timing::Freshness::New));
  io.print(calibration_text(report));
  Json json = record::to_json(report.calibration);
  json.set("path", report.path);
  return io.finish(kOk, json);
}

}  // namespace kw::commands
