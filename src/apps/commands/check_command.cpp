#include "binding/load.h"
#include "commands/command.h"
#include "commands/text.h"
#include "commands/values.h"
#include "machine/devices.h"
#include "single_run/check.h"
#include "single_run/json.h"

namespace kw::commands {

namespace {

struct Checked {
  kernel::Module module;
  single_run::CheckReport report;
};

Result<Checked> check(const Args& args, Io& io) {
  single_run::CheckRequest request;
  request.bindings = KW_TRY(binding_options(args));
  request.target = args.one("--target");
  request.all_tunes = args.has("--all-tunes");
  request.tune_limit = static_cast<size_t>(args.integer("--limit"));
  request.timeout_seconds = args.number("--timeout");
  kernel::Module module = KW_TRY(binding::load_module(args.positionals.front()));
  const auto compiler = KW_TRY(machine::open_compiler(args.one("--compiler")));
  const auto virtual_gpu = KW_TRY(machine::open_device({"vgpu", request.target, 0, {}}));
  const auto progress = [&io](const std::string& what) { io.progress(what); };
  single_run::CheckReport report =
      KW_TRY(single_run::check_module(module, request, *compiler, virtual_gpu.get(), progress));
  return Checked{std::move(module), std::move(report)};
}

}  // namespace

int check_command(const Args& args, Io& io) {
  const Result<Checked> checked = check(args, io);
  if (!checked) return io.fail(checked.error());
  for (const std::string& note : checked->report.notes) io.note(note);
  io.print(check_text(checked->report, checked->module, io.style()));
  return io.finish(checked->report.ok() ? kOk : kCandidateFailed,
                   to_json(checked->report, checked->module));
}

}  // namespace kw::commands
