#include "commands/command.h"
#include "commands/kernel_commands.h"
#include "commands/model_options.h"
#include "commands/synthesize_text.h"
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
    return input_error("--prompt and --prompt-file exclude each other; give one of the two");
  return os::read_file(file, kMostPromptBytes);
}

Result<workflows::SynthesizeRequest> synthesize_request(const Args& args, Io& io) {
  workflows::SynthesizeRequest request;
  KW_TRY(name_reference(args.one("--reference"), args.one("--function"), request));
  request.prompt = KW_TRY(prompt_option(args));
  KW_TRY(read_synthesis_options(args, io, request));
  const VerifierOptions before = KW_TRY(verifier_options(args));
  request.verifiers = before.on;
  request.reviewers = before.reviewers;
  if (args.given("--seed")) request.seed = static_cast<uint64_t>(args.integer("--seed"));
  request.out = args.one("--out");
  return request;
}

Result<int> continue_run(const Args& args, Io& io, bool only_measure) {
  workflows::ContinueRequest request;
  request.folder = KW_TRY(workflows::named_run(args.one("--out"), args.positionals.front()));
  request.reference = args.one("--reference");
  KW_TRY(continue_options(args, request));
  if (args.given("--candidates"))
    request.candidates = static_cast<size_t>(args.integer("--candidates"));
  if (only_measure) request.device = args.one("--device");
  request.only_measure = only_measure;
  return finish_job(KW_TRY(resume_run(request, io)), io);
}

}  // namespace

Result<int> synthesize_command(const Args& args, Io& io) {
  const auto request = KW_TRY(synthesize_request(args, io));
  return finish_job(KW_TRY(make_kernel(request, io)), io);
}

Result<int> resume_command(const Args& args, Io& io) { return continue_run(args, io, false); }
Result<int> tune_command(const Args& args, Io& io) { return continue_run(args, io, true); }

}  // namespace kw::commands
