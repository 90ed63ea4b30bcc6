#include <fmt/core.h>

#include "commands/command.h"
#include "commands/model_options.h"
#include "commands/values.h"
#include "commands/watch.h"
#include "core/text.h"
#include "os/interrupt.h"
#include "review/soft_tune.h"

namespace kw::commands {
namespace {

constexpr int64_t kMostGenerations = 1000, kMostPopulation = 100, kMostSample = 100'000;

constexpr const char* kTuneAnew[] = {"--generations", "--budget", "--second-model", "--model",
                                     "--in-flight",   "--record", "--replay",       "--runs",
                                     "--no-install",  "--out",    "--allow-commands"};

Result<review::TuneVerifiersRequest> tune_request(const Args& args, Io& io) {
  review::TuneVerifiersRequest request;
  if (!args.all("--resume").empty()) KW_TRY(check_said_anew(args, kTuneAnew));
  request.models = KW_TRY(model_options(args, io));
  request.models.model_id = args.one("--model");
  if (request.models.model_id.empty() && !args.all("--model").empty())
    return input_error("--model names no model");
  request.second_model = args.one("--second-model");
  request.corpus = args.one("--corpus");
  if (request.corpus == "shipped") request.corpus.clear();
  request.runs = args.one("--runs");
  request.verifier = args.one("--verifier", request.verifier);
  request.prompts = args.one("--verifier-prompts");
  request.generations =
      KW_TRY(integer_option(args, "--generations", request.generations, 0, kMostGenerations));
  request.population =
      KW_TRY(integer_option(args, "--population", request.population, 1, kMostPopulation));
  request.sample = KW_TRY(integer_option(args, "--sample", request.sample, 4, kMostSample));
  request.in_flight = KW_TRY(integer_option(args, "--in-flight", request.in_flight, 1, 256));
  request.seed = static_cast<uint64_t>(KW_TRY(integer_option(args, "--seed", 0, 0, INT64_MAX)));
  request.reflect = args.has("--reflect");
  request.install = !args.has("--no-install");
  request.out = args.one("--out");
  request.resume = args.one("--resume");
  request.models.programs = request.resume.empty() || args.has("--allow-commands");
  if (!request.out.empty() && !request.resume.empty())
    return input_error("--out and --resume: give one of the two");
  // A folder that is taken up knows how long it was to be.
  if (!request.resume.empty() && args.all("--generations").empty()) request.generations = 0;
  return request;
}

int tuning_code(const review::TuneVerifiersReport& report) {
  const review::Tuned* open = report.unfinished();
  if (open == nullptr) return kOk;
  if (os::interrupted()) return kInterrupted;
  return open->failure ? exit_code(open->failure->blame()) : kCandidateFailed;
}

}  // namespace

int tune_verifiers_command(const Args& args, Io& io) {
  auto request = tune_request(args, io);
  if (!request) return io.fail(request.error());
  const auto watch = [&io](const std::string& what, bool notice) {
    notice ? io.note(what) : io.progress(what);
  };
  const auto report = review::tune_verifiers(std::move(request).value(), watch);
  io.progress("");
  if (!report) return io.fail(report.error());
  io.print(review::tune_text(*report));
  if (const review::Tuned* open = report->unfinished()) {
    io.complain(fmt::format("not finished: {}", open->stopped));
    io.note(fmt::format("to go on: kernelwright tune-verifiers --resume {}",
                        shell_quote(report->folder)));
  }
  return io.finish(tuning_code(*report), report->document);
}

}  // namespace kw::commands
