#include "commands/model_options.h"

#include <unistd.h>

#include <cstdio>
#include <optional>

#include "commands/values.h"
#include "core/text.h"
#include "report/style.h"

namespace kw::commands {

bool has_terminal() { return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0; }

std::optional<std::string> ask_user(Io& io, const std::string& question) {
  if (!has_terminal()) return std::nullopt;
  io.progress("");
  std::fprintf(stderr, "%s\n> ", printable(question).c_str());
  std::fflush(stderr);
  std::string line;
  for (int c = std::getchar(); c != EOF && c != '\n'; c = std::getchar())
    line += static_cast<char>(c);
  if (line.empty() && std::feof(stdin) != 0) return std::nullopt;
  return line;
}

void model_limits(const Args& args, stages::ModelOptions& options) {
  if (args.given("--budget")) options.budget_usd = args.number("--budget");
  if (args.given("--max-calls")) options.max_calls = args.integer("--max-calls");
  if (args.given("--max-tokens")) options.max_tokens = args.integer("--max-tokens");
}

Result<stages::ModelOptions> model_options(const Args& args, Io& io) {
  stages::ModelOptions options;
  options.model_id = args.one("--model-id");
  if (options.model_id.empty() && !args.all("--model-id").empty())
    return input_error("--model-id names no model");
  options.escalation_id = args.one("--escalation-model");
  options.stage_models = args.all("--stage-model");
  options.retries = args.all("--retries");
  model_limits(args, options);
  options.escalate = args.has("--escalate");
  options.record = args.one("--record");
  options.replay = args.one("--replay");
  if (!options.record.empty() && !options.replay.empty())
    return input_error("--record and --replay exclude each other; give one of the two");
  options.transcripts = !args.has("--no-transcripts");
  options.store_reference = !args.has("--no-store-reference");
  if (!args.has("--ask")) return options;
  if (!has_terminal()) return input_error("--ask needs an interactive terminal");
  options.ask = [&io](const std::string& question) { return ask_user(io, question); };
  return options;
}

Result<VerifierOptions> verifier_options(const Args& args) {
  VerifierOptions options;
  options.on = args.on("--verifiers");
  options.reviewers = {args.one("--verifier-model"), args.one("--verifier-prompts"),
                       args.has("--verifier-reflect"), args.has("--verifier-reject")};
  KW_TRY(review::check_reviewers(options.reviewers, options.on));
  return options;
}

}  // namespace kw::commands
