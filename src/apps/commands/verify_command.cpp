#include "cli/candidate_file.h"
#include "cli/command.h"
#include "cli/values.h"
#include "cli/verify_text.h"
#include "engine/devices.h"
#include "engine/load_reference.h"
#include "engine/verify.h"
#include "engine/verify_tools.h"
#include "os/files.h"

namespace kw::cli {

namespace {

Result<engine::VerifyRequest> verify_request(const Args& args) {
  const engine::BindingRequest bindings = KW_TRY(binding_options(args));
  engine::VerifyRequest request;
  request.reference_path = args.one("--reference");
  if (request.reference_path.empty())
    return input_error("verify wants --reference REF: a Python file or a task folder");
  request.task_options = task_options(args);
  request.dims = bindings.dims;
  request.tunes = bindings.tunes;
  request.family = args.one("--family");
  if (!request.family.empty()) KW_TRY(engine::check_family(request.family));
  if (!args.one("--seed").empty())
    request.seed = static_cast<uint64_t>(KW_TRY(integer_option(args, "--seed", 0, 0, INT64_MAX)));
  request.target = args.one("--target");
  request.timeout_seconds = KW_TRY(timeout_option(args));
  request.threads = static_cast<int>(KW_TRY(integer_option(args, "--threads", 0, 1, 1024)));
  request.kill_rate = args.has("--kill-rate");
  return request;
}

/// The device that judges, and beside a real one the virtual GPU that looks first.
struct Devices {
  std::unique_ptr<exec::Device> virtual_gpu, gpu;
};

Result<Devices> open_devices(const Args& args, const engine::VerifyRequest& request, Io& io) {
  Devices devices;
  auto chosen = KW_TRY(
      engine::open_device({args.one("--device", "auto"), request.target, request.timeout_seconds,
                           [&io](const std::string& what) { io.note(what); }}));
  if (chosen->info().is_virtual) {
    devices.virtual_gpu = std::move(chosen);
    return devices;
  }
  const std::string target = request.target.empty() ? chosen->info().target : request.target;
  devices.virtual_gpu = KW_TRY(engine::open_device({"vgpu", target, 0, {}}));
  devices.gpu = std::move(chosen);
  return devices;
}

/// All files before the first verdict: a name that was mistyped should not cost an hour.
Result<std::vector<std::string>> module_texts(const Args& args,
                                              const std::map<std::string, int64_t>& tunes) {
  std::vector<std::string> texts;
  for (const std::string& path : args.positionals) {
    texts.push_back(KW_TRY(os::read_file(path, kMostModuleBytes)));
    KW_TRY(check_tunes(texts.back(), tunes));
  }
  return texts;
}

/// What a foreign launcher's numbers are is nothing that the reference's reader knows.
std::vector<std::string> inputs_for(const Args& args, const std::vector<std::string>& texts) {
  for (size_t i = 0; i < texts.size(); ++i) {
    if (needs_reading(args.positionals[i], texts[i])) return task_inputs(args.all("--input"));
  }
  return args.all("--input");
}

/// One report per module, printed as it is made. They share devices, workers, inputs and truths.
Result<std::vector<engine::VerifyReport>> verify(const Args& args, Io& io) {
  engine::VerifyRequest request = KW_TRY(verify_request(args));
  const std::vector<std::string> texts = KW_TRY(module_texts(args, request.tunes));
  const auto progress = [&io](const std::string& what) { io.progress(what); };
  const engine::CrossCheckMode mode =
      KW_TRY(engine::cross_check_mode(args.one("--cross-check", "auto")));
  const auto torch = engine::open_torch();
  progress("reading the reference");
  Result<task::Task> task = engine::load_reference({request.reference_path, args.one("--function"),
                                                    inputs_for(args, texts), request.dims, torch});
  if (!task) return std::move(task).error();
  const Devices devices = KW_TRY(open_devices(args, request, io));
  const auto compiler = KW_TRY(engine::open_compiler(args.one("--compiler")));
  const auto oracle = engine::open_oracle({compiler.get(), devices.gpu.get(), 0});
  engine::VerifyTools tools{compiler.get(), devices.virtual_gpu.get(), devices.gpu.get(),
                            oracle.get(), engine::open_cross_check(mode, KW_VERSION, torch)};
  if (needs_reading(args.positionals.front(), texts.front()))
    tools.cross_check = engine::begin_cross_check(tools.cross_check,
                                                  KW_TRY(engine::with_dims(*task, request.dims)));
  engine::VerifyPools pools;
  std::vector<engine::VerifyReport> reports;
  for (size_t i = 0; i < texts.size(); ++i) {
    request.module_path = args.positionals[i];
    engine::CandidateText candidate{texts[i], std::nullopt, std::nullopt, {}};
    if (needs_reading(request.module_path, texts[i])) {
      const exec::Device& judge = devices.gpu ? *devices.gpu : *devices.virtual_gpu;
      candidate = KW_TRY(
          read_candidate_file(request.module_path, args, *task, request.dims, judge.info(), io));
    }
    reports.push_back(candidate.refused
                          ? engine::refused_report(candidate, *task, request)
                          : KW_TRY(engine::verify_module(candidate.text, *task, request, tools,
                                                         progress, &pools)));
    if (i > 0) io.print("\n");
    io.print(verify_text(reports.back(), args.has("--explain"), io.style()));
  }
  return reports;
}

int verdict_code(const engine::VerifyReport& report) {
  if (report.ok()) return kOk;
  const bool unknown = std::holds_alternative<record::Unknown>(report.gate.verdict);
  return unknown ? kEnvironment : kCandidateFailed;
}

/// A failed candidate outweighs one that could not be judged.
int verdict_code(const std::vector<engine::VerifyReport>& reports) {
  int code = kOk;
  for (const engine::VerifyReport& report : reports) {
    const int own = verdict_code(report);
    if (code == kOk || own == kCandidateFailed) code = own == kOk ? code : own;
  }
  return code;
}

}  // namespace

int verify_command(const Args& args, Io& io) {
  const Result<std::vector<engine::VerifyReport>> reports = verify(args, io);
  if (!reports) return io.fail(reports.error());
  if (reports->size() == 1)
    return io.finish(verdict_code(*reports), engine::to_json(reports->front()));
  Json list = Json::array();
  for (const engine::VerifyReport& report : *reports) list.push(engine::to_json(report));
  return io.finish(verdict_code(*reports), Json().set("candidates", std::move(list)));
}

}  // namespace kw::cli
