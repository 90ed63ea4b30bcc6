// The demonstration: a PyTorch function becomes a verified kernel on the virtual GPU. Then a kernel
// with a planted bug runs, and the virtual GPU reports it. Reference and module are compiled into
// the binary, so no files are needed.
#include <fmt/core.h>

#include "binding/load.h"
#include "commands/command.h"
#include "commands/run_text.h"
#include "commands/synthesize_text.h"
#include "kBugText.inc"
#include "kReferenceText.inc"
#include "machine/devices.h"
#include "os/files.h"
#include "report/findings.h"
#include "single_run/json.h"
#include "single_run/run_module.h"
#include "workflows/synthesize.h"

namespace kw::commands {

namespace {

constexpr int64_t kRows = 64, kColumns = 1024;

/// Writes the reference to a file, so that repro lines can name it.
Result<std::string> write_reference() {
  const std::string folder = os::cache_directory() + "/demo";
  KW_TRY(os::make_directories(folder));
  const std::string path = folder + "/rms_norm.py";
  KW_TRY(os::write_file(path, kReferenceText, os::Sync::No));
  return path;
}

Result<workflows::SynthesisReport> synthesize(const Args& args, Io& io) {
  workflows::SynthesizeRequest request;
  request.reference = KW_TRY(write_reference());
  request.prompt = "fp16 RMSNorm over the last dim, without gamma";
  request.device = "vgpu";
  request.compiler = args.one("--compiler");
  request.out = args.one("--out");
  request.cross_check = "never";
  request.version = version();
  return workflows::synthesize(request, [&io](const workflows::SynthesisProgress& progress) {
    io.progress(progress_text(progress));
  });
}

struct Bug {
  kernel::Module module;
  single_run::RunReport report;
  bool caught() const { return !report.compile_failed && !report.passed(); }
};

Result<Bug> run_bug(const Args& args, Io& io) {
  const auto compiler = KW_TRY(machine::open_compiler(args.one("--compiler")));
  const auto device = KW_TRY(machine::open_device({"vgpu", "", 0, {}}));
  single_run::RunRequest request;
  request.bindings.dims = {{"B", kRows}, {"D", kColumns}};
  Bug bug{KW_TRY(binding::parse_module(kBugText, "rms_norm_bug.cu")), {}};
  bug.report =
      KW_TRY(single_run::run_module(bug.module, request, *compiler, *device,
                                    [&io](const std::string& what) { io.progress(what); }));
  return bug;
}

std::string heading(Io& io, const char* text) {
  return report::paint(io.style(), report::Paint::Strong, text) + "\n\n";
}

}  // namespace

Result<int> demo_command(const Args& args, Io& io) {
  io.print(heading(
      io, "1. A PyTorch function becomes a verified CUDA kernel, with no GPU and no model"));
  io.print(std::string(kReferenceText) + "\n");
  const workflows::SynthesisReport made = KW_TRY(synthesize(args, io));
  io.print(synthesis_text(made, io.style()));
  if (made.error_blame) {
    io.print_error(made.failure_reason);
    return io.finish(exit_code(static_cast<Blame>(*made.error_blame)), made.document);
  }
  io.print("\n" + heading(io, "2. A kernel with a bug in it, on the virtual GPU with all checks"));
  const Bug bug = KW_TRY(run_bug(args, io));
  for (const std::string& note : bug.report.notes) io.note(note);
  io.print(run_text(bug.report, bug.module, io.style()));
  const bool ok = made.passed && bug.caught();
  io.print(
      ok ? "\nNo GPU was used. Try it on your own: kernelwright synthesize --reference FILE.py\n"
         : "\nThe demonstration failed.\n");
  Json json = Json::object();
  json.set("synthesis", made.document).set("kernel", made.kernel_path);
  json.set("bad", to_json(bug.report, bug.module));
  return io.finish(ok ? kOk : kCandidateFailed, json);
}

}  // namespace kw::commands
