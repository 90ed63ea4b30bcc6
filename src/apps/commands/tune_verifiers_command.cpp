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

Result<review::TuneVerifiersRequest> tune_request(const Args& args, Io& io) {
  review::TuneVerifiersRequest request;
  if (!args.all("--resume").empty()) KW_TRY(check_given_again(args));
  request.models = KW_TRY(model_options(args, io));
  request.models.model_id = args.one("--model");
  if (request.models.model_id.empty() && !args.all("--model").empty())
    return input_error("--model names no model");
  request.second_model = args.one("--second-model");
  request.corpus = args.one("--corpus");
  if (request.corpus == "shipped") request.corpus.clear();
  request.runs = args.one("--runs");
  request.verifier = args.one("--verifier");
  request.prompts = args.one("--verifier-prompts");
  request.generations = args.integer("--generations");
  request.population = args.integer("--population");
  request.sample = args.integer("--sample");
  request.in_flight = args.integer("--in-flight");
  request.seed = static_cast<uint64_t>(args.integer("--seed"));
  request.reflect = args.has("--reflect");
  request.install = !args.has("--no-install");
  request.out = args.one("--out");
  request.resume = args.one("--resume");
  request.models.programs = request.resume.empty() || args.has("--allow-commands");
  if (!request.out.empty() && !request.resume.empty())
    return input_error("--out and --resume exclude each other; give one of the two");
  // A resumed folder has its own number of generations.
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

Result<int> tune_verifiers_command(const Args& args, Io& io) {
  auto request = KW_TRY(tune_request(args, io));
  const auto watch = [&io](const std::string& what, bool notice) {
    if (notice)
      io.note(what);
    else
      io.progress(what);
  };
  const auto report = review::tune_verifiers(std::move(request), watch);
  io.progress("");
  if (!report) return report.error();
  io.print(review::tune_text(*report));
  if (const review::Tuned* open = report->unfinished()) {
    io.print_error(fmt::format("not finished: {}", open->stopped));
    io.note(fmt::format("to continue: kernelwright tune-verifiers --resume {}",
                        shell_quote(report->folder)));
  }
  return io.finish(tuning_code(*report), report->document);
}

}  // namespace kw::commands
