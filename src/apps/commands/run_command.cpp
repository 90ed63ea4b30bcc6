#include <algorithm>

#include "binding/load.h"
#include "commands/command.h"
#include "commands/run_text.h"
#include "commands/values.h"
#include "core/json_writer.h"
#include "machine/devices.h"
#include "os/files.h"
#include "single_run/json.h"
#include "single_run/run_module.h"

namespace kw::commands {

namespace {

Result<single_run::RunRequest> run_request(const Args& args) {
  single_run::RunRequest request;
  request.bindings = KW_TRY(binding_options(args));
  request.inputs = KW_TRY(input_options(args));
  request.seed = static_cast<uint64_t>(args.integer("--seed"));
  request.target = args.one("--target");
  request.counters = args.has("--counters");
  request.check_order = args.has("--check-order");
  request.time = args.has("--time");
  request.threads = static_cast<int>(args.integer("--threads"));
  request.timeout_seconds = args.number("--timeout");
  return request;
}

int outcome_code(const single_run::RunReport& report) {
  if (report.passed()) return kOk;
  if (!report.outcome) return kCandidateFailed;
  const ports::RunStatus status = report.outcome->status;
  // If the virtual GPU is too slow or lacks an instruction, the candidate is not to blame, unless
  // there are findings.
  const bool lacking = (status == ports::RunStatus::Hung || status == ports::RunStatus::Refused) &&
                       report.device.is_virtual &&
                       std::ranges::none_of(report.outcome->findings, [](const auto& finding) {
                         return finding.certainty == record::Certainty::Certain;
                       });
  const bool machine =
      lacking || status == ports::RunStatus::OutOfMemory || status == ports::RunStatus::WorkerLost;
  return machine ? kEnvironment : kCandidateFailed;
}

}  // namespace

// All options are checked before slow work begins.
Result<int> run_command(const Args& args, Io& io) {
  const single_run::RunRequest request = KW_TRY(run_request(args));
  const kernel::Module module = KW_TRY(binding::load_module(args.positionals.front()));
  const std::string folder = args.one("--output");
  if (!folder.empty()) KW_TRY(os::make_directories(folder));
  const auto device =
      KW_TRY(machine::open_device({args.one("--device"), request.target, request.timeout_seconds,
                                   [&io](const std::string& what) { io.note(what); }}));
  const auto compiler = KW_TRY(machine::open_compiler(args.one("--compiler")));
  const single_run::RunReport report = KW_TRY(single_run::run_module(
      module, request, *compiler, *device, [&io](const std::string& what) { io.progress(what); }));
  for (const std::string& note : report.notes) io.note(note);
  io.print(run_text(report, module, io.style()));
  Json json = to_json(report, module);
  if (!folder.empty()) {
    const std::vector<std::string> written = KW_TRY(single_run::write_outputs(report, folder));
    for (const std::string& path : written) io.print("wrote " + path + "\n");
    if (written.empty())
      io.print("nothing was written to " + folder + ": the run returned no outputs\n");
    json.set("files", json_of(written));
  }
  return io.finish(outcome_code(report), json);
}

}  // namespace kw::commands
