#include "commands/candidate_file.h"
#include "commands/command.h"
#include "commands/judging_options.h"
#include "commands/values.h"
#include "commands/verify_text.h"
#include "machine/devices.h"
#include "os/files.h"
#include "reference/load_reference.h"
#include "verification/verify.h"
#include "verification/verify_tools.h"

namespace kw::commands {

namespace {

Result<verification::VerifyRequest> verify_request(const Args& args) {
  const binding::BindingRequest bindings = KW_TRY(binding_options(args));
  verification::VerifyRequest request = verify_options(args, bindings);
  if (request.reference_path.empty())
    return input_error("missing required option --reference REF: a Python file or a task folder");
  request.dims = bindings.dims;
  request.family = args.one("--family");
  if (!request.family.empty()) KW_TRY(verification::check_family(request.family));
  request.kill_rate = args.has("--kill-rate");
  if (args.given("--require"))
    request.task_options.insert(request.task_options.end(), {"--require", args.one("--require")});
  return request;
}

/// The device that judges; with a GPU, also the virtual GPU, which checks first.
struct Devices {
  std::unique_ptr<ports::Device> virtual_gpu, gpu;
};

Result<Devices> open_devices(const Args& args, const verification::VerifyRequest& request, Io& io) {
  Devices devices;
  auto chosen =
      KW_TRY(machine::open_device({args.one("--device"), request.target, request.timeout_seconds,
                                   [&io](const std::string& what) { io.note(what); }}));
  if (chosen->info().is_virtual) {
    devices.virtual_gpu = std::move(chosen);
    return devices;
  }
  const std::string target = request.target.empty() ? chosen->info().target : request.target;
  devices.virtual_gpu = KW_TRY(machine::open_device({"vgpu", target, 0, {}}));
  devices.gpu = std::move(chosen);
  return devices;
}

/// Reads all files before the first verdict: a mistyped name should not cost an hour.
Result<std::vector<std::string>> module_texts(const Args& args,
                                              const std::map<std::string, int64_t>& tunes) {
  std::vector<std::string> texts;
  for (const std::string& path : args.positionals) {
    texts.push_back(KW_TRY(os::read_file(path, kMostModuleBytes)));
    KW_TRY(check_tunes(texts.back(), tunes));
  }
  return texts;
}

/// The task's own inputs: the reader of the reference does not know the numbers of a foreign
/// launcher.
std::vector<std::string> inputs_for(const Args& args, const std::vector<std::string>& texts) {
  for (size_t i = 0; i < texts.size(); ++i) {
    if (needs_reading(args.positionals[i], texts[i])) return task_inputs(args.all("--input"));
  }
  return args.all("--input");
}

/// One report per module, printed when it is ready. They share devices, workers, inputs and truths.
Result<std::vector<verification::VerifyReport>> verify(const Args& args, Io& io) {
  verification::VerifyRequest request = KW_TRY(verify_request(args));
  const std::vector<std::string> texts = KW_TRY(module_texts(args, request.tunes));
  const auto progress = [&io](const std::string& what) { io.progress(what); };
  const verification::CrossCheckMode mode =
      KW_TRY(verification::cross_check_mode(args.one("--cross-check")));
  const auto torch = reference::open_torch();
  progress("reading the reference");
  Result<task::Task> task = reference::load_reference({request.reference_path,
                                                       args.one("--function"),
                                                       inputs_for(args, texts),
                                                       request.dims,
                                                       torch,
                                                       false,
                                                       {},
                                                       args.one("--mode"),
                                                       args.one("--device")});
  if (!task) return std::move(task).error();
  KW_TRY(reference::read_precision(args.one("--require"), task->precision));
  const Devices devices = KW_TRY(open_devices(args, request, io));
  const auto compiler = KW_TRY(machine::open_compiler(args.one("--compiler")));
  const auto oracle = verification::open_oracle({compiler.get(), devices.gpu.get(), 0});
  verification::VerifyTools tools{compiler.get(), devices.virtual_gpu.get(), devices.gpu.get(),
                                  oracle.get(),
                                  verification::open_cross_check(mode, KW_VERSION, torch)};
  if (needs_reading(args.positionals.front(), texts.front()))
    tools.cross_check = verification::begin_cross_check(
        tools.cross_check, KW_TRY(verification::with_dims(*task, request.dims)));
  verification::VerifyPools pools;
  std::vector<verification::VerifyReport> reports;
  for (size_t i = 0; i < texts.size(); ++i) {
    request.module_path = args.positionals[i];
    verification::CandidateText candidate{texts[i], std::nullopt, std::nullopt, {}};
    if (needs_reading(request.module_path, texts[i])) {
      const ports::Device& judge = devices.gpu ? *devices.gpu : *devices.virtual_gpu;
      candidate = KW_TRY(
          read_candidate_file(request.module_path, args, *task, request.dims, judge.info(), io));
    }
    reports.push_back(candidate.refused
                          ? verification::refused_report(candidate, *task, request)
                          : KW_TRY(verification::verify_module(candidate.text, *task, request,
                                                               tools, progress, &pools)));
    if (i > 0) io.print("\n");
    io.print(verify_text(reports.back(), args.has("--explain"), io.style()));
  }
  return reports;
}

int verdict_code(const verification::VerifyReport& report) {
  if (report.ok()) return kOk;
  const bool unknown = std::holds_alternative<record::Unknown>(report.gate.verdict);
  return unknown ? kEnvironment : kCandidateFailed;
}

/// A failed candidate counts more than one that could not be judged.
int verdict_code(const std::vector<verification::VerifyReport>& reports) {
  int code = kOk;
  for (const verification::VerifyReport& report : reports) {
    const int own = verdict_code(report);
    if (code == kOk || own == kCandidateFailed) code = own == kOk ? code : own;
  }
  return code;
}

}  // namespace

Result<int> verify_command(const Args& args, Io& io) {
  const std::vector<verification::VerifyReport> reports = KW_TRY(verify(args, io));
  if (reports.size() == 1) return io.finish(verdict_code(reports), to_json(reports.front()));
  Json list = Json::array();
  for (const verification::VerifyReport& report : reports) list.push(to_json(report));
  return io.finish(verdict_code(reports), Json().set("candidates", std::move(list)));
}

}  // namespace kw::commands
