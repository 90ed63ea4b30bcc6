#include "commands/command.h"
#include "commands/job.h"
#include "commands/model_options.h"
#include "commands/synthesize_text.h"
#include "commands/values.h"
#include "os/files.h"
#include "workflows/synthesize.h"

namespace kw::commands {

namespace {

constexpr uint64_t kMostPromptBytes = uint64_t{1} << 20;

/// --prompt or the text of --prompt-file.
Result<std::string> prompt_option(const Args& args) {
  const std::string file = args.one("--prompt-file");
  if (file.empty()) return args.one("--prompt");
  if (!args.one("--prompt").empty())
    return input_error("--prompt and --prompt-file: give one of the two");
  return os::read_file(file, kMostPromptBytes);
}

Result<workflows::SynthesizeRequest> synthesize_request(const Args& args, Io& io) {
  workflows::SynthesizeRequest request;
  KW_TRY(name_reference(args.one("--reference"), args.one("--function"), request));
  request.prompt = KW_TRY(prompt_option(args));
  request.inputs = args.all("--input");
  const binding::BindingRequest bindings = KW_TRY(binding_options(args));
  request.dims = bindings.dims;
  request.elements = KW_TRY(integer_option(args, "--elements", 0, 1, int64_t{1} << 40));
  request.target = args.one("--target", "auto");
  request.device = args.one("--device", "auto");
  request.compiler = args.one("--compiler");
  request.proposer = args.one("--proposer", "auto");
  request.models = KW_TRY(model_options(args, io));
  const VerifierOptions before = KW_TRY(verifier_options(args));
  request.verifiers = before.on;
  request.readers = before.readers;
  request.seconds = KW_TRY(duration_option(args, "--time", request.seconds));
  request.candidates =
      static_cast<size_t>(KW_TRY(integer_option(args, "--candidates", 0, 1, 1000000)));
  request.goal = KW_TRY(number_option(args, "--goal", request.goal));
  request.perf_target = KW_TRY(number_option(args, "--perf-target", request.perf_target));
  request.precision = args.one("--precision");
  if (!args.one("--seed").empty())
    request.seed = static_cast<uint64_t>(KW_TRY(integer_option(args, "--seed", 0, 0, INT64_MAX)));
  request.out = args.one("--out");
  request.quick = args.has("--quick");
  request.cross_check = args.one("--cross-check", "auto");
  if (!args.one("--versus").empty()) request.baselines = baseline_names(args.one("--versus"));
  request.timeout_seconds = KW_TRY(timeout_option(args));
  request.threads = static_cast<int>(KW_TRY(integer_option(args, "--threads", 0, 1, 1024)));
  request.version = version();
  return request;
}

int go_on(const Args& args, Io& io, bool only_measure) {
  workflows::ContinueRequest request;
  const auto fill = [&]() -> Status {
    request.folder = KW_TRY(workflows::named_run(args.one("--out"), args.positionals.front()));
    request.reference = args.one("--reference");
    KW_TRY(continue_options(args, request));
    if (!args.one("--candidates").empty())
      request.candidates =
          static_cast<size_t>(KW_TRY(integer_option(args, "--candidates", 0, 1, 1000000)));
    if (only_measure) request.device = args.one("--device", "auto");
    request.only_measure = only_measure;
    return Done{};
  };
  const Status filled = fill();
  if (!filled) return io.fail(filled.error());
  return finish_job(go_on_with(request, io), io);
}

}  // namespace

int synthesize_command(const Args& args, Io& io) {
  const auto request = synthesize_request(args, io);
  if (!request) return io.fail(request.error());
  return finish_job(make_kernel(*request, io), io);
}

int resume_command(const Args& args, Io& io) { return go_on(args, io, false); }
int tune_command(const Args& args, Io& io) { return go_on(args, io, true); }

}  // namespace kw::commands
