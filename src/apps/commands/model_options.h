// The options about language models, shared by synthesize, evolve and eval.
#pragma once

#include "commands/command.h"
#include "core/result.h"
#include "workflows/synthesize.h"

namespace kw::commands {

/// --model-id, --stage-model, --retries, --budget, --escalate, --escalation-model, --ask, --record,
/// --replay, --no-transcripts, --no-store-reference, as far as the command has them.
Result<stages::ModelOptions> model_options(const Args& args, Io& io);

/// Who looks before hardware does.
struct VerifierOptions {
  bool on = true;
  review::SoftVerifyOptions readers;
};
/// --verifiers, --verifier-model, --verifier-prompts, --verifier-reflect, --verifier-reject.
Result<VerifierOptions> verifier_options(const Args& args);

/// One line from a person at the terminal; nothing when there is none or it is closed.
std::optional<std::string> ask_person(Io& io, const std::string& question);
/// Whether a person can be asked: input and errors are a terminal.
bool person_there();

}  // namespace kw::commands
