// The options about language models, shared by synthesize, evolve and eval.
#pragma once

#include "commands/command.h"
#include "core/result.h"
#include "workflows/synthesize.h"

namespace kw::commands {

/// Reads --model-id, --stage-model, --retries, --escalate, --escalation-model, --ask,
/// --record, --replay, --no-transcripts, --no-store-reference and the limits, if the command has
/// them.
Result<stages::ModelOptions> model_options(const Args& args, Io& io);

/// Reads --budget, --max-calls, --max-tokens.
void model_limits(const Args& args, stages::ModelOptions& options);

/// What checks kernels before hardware runs them.
struct VerifierOptions {
  bool on = true;
  review::SoftVerifyOptions reviewers;
};
/// Reads --verifiers, --verifier-model, --verifier-prompts, --verifier-reflect, --verifier-reject.
Result<VerifierOptions> verifier_options(const Args& args);

/// One line from the user at the terminal; empty when there is no terminal or it is closed.
std::optional<std::string> ask_user(Io& io, const std::string& question);
/// Whether the user can be asked: standard input and error are a terminal.
bool has_terminal();

}  // namespace kw::commands
