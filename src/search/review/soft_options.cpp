#include "review/soft_options.h"

namespace kw::review {

Json to_json(const SoftVerifyOptions& options) {
  Json json = Json::object();
  json.set("model", options.model).set("prompts", options.prompts);
  return json.set("reflect", options.reflect).set("reject", options.reject);
}

SoftVerifyOptions soft_verify_options_from_json(const Json& json) {
  return {json["model"].as_string(), json["prompts"].as_string(), json["reflect"].as_bool(),
          json["reject"].as_bool()};
}

Status check_readers(const SoftVerifyOptions& options, bool verifiers) {
  const bool more = !options.prompts.empty() || options.reflect || options.reject;
  if (options.model.empty() && more)
    return input_error(
        "--verifier-prompts, --verifier-reflect and --verifier-reject need a --verifier-model");
  if (!options.model.empty() && !verifiers)
    return input_error("--verifier-model has no effect with --verifiers off");
  return Done{};
}

}  // namespace kw::review
