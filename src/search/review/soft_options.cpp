#include "review/soft_options.h"

#include "core/json_writer.h"

namespace kw::review {

Json to_json(const SoftVerifyOptions& options) { return record_json(options); }

Status check_reviewers(const SoftVerifyOptions& options, bool verifiers) {
  const bool more = !options.prompts.empty() || options.reflect || options.reject;
  if (options.model.empty() && more)
    return input_error(
        "--verifier-prompts, --verifier-reflect and --verifier-reject need a --verifier-model");
  if (!options.model.empty() && !verifiers)
    return input_error("--verifier-model has no effect with --verifiers off");
  return Done{};
}

}  // namespace kw::review
