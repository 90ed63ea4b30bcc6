#include "binding/load.h"
#include "commands/command.h"
#include "commands/run_text.h"
#include "commands/values.h"
#include "machine/devices.h"
#include "single_run/check_module.h"
#include "single_run/json.h"

namespace kw::commands {

Result<int> check_command(const Args& args, Io& io) {
  single_run::CheckRequest request;
  request.bindings = KW_TRY(binding_options(args));
  request.target = args.one("--target");
  request.all_tunes = args.has("--all-tunes");
  request.tune_limit = static_cast<size_t>(args.integer("--limit"));
  request.timeout_seconds = args.number("--timeout");
  const kernel::Module module = KW_TRY(binding::load_module(args.positionals.front()));
  const auto compiler = KW_TRY(machine::open_compiler(args.one("--compiler")));
  const auto virtual_gpu = KW_TRY(machine::open_device({"vgpu", request.target, 0, {}}));
  const single_run::CheckReport report =
      KW_TRY(single_run::check_module(module, request, *compiler, virtual_gpu.get(),
                                      [&io](const std::string& what) { io.progress(what); }));
  for (const std::string& note : report.notes) io.note(note);
  io.print(check_text(report, module, io.style()));
  return io.finish(report.ok() ? kOk : kCandidateFailed, to_json(report, module));
}

}  // namespace kw::commands
