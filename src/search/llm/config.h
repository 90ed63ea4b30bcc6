// Which providers there are, how each is reached, and what models cost: the built-in rows, and the
// user's providers.toml over them. Keys are found here and handed on as Secrets.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llm/prices.h"
#include "llm/provider.h"
#include "llm/secret.h"

namespace kw::llm {

enum class KeyNeed : uint8_t { Required, Optional, None };
/// How a model takes its reasoning: tokens, as it likes, a word, a level, or not at all.
enum class Thinking : uint8_t { None, Budget, Adaptive, Effort, Level };

/// One provider.
struct ProviderRow {
  std::string name;
  std::string wire;
  std::string base_url;
  std::string key_env, key_file;
  std::string ca_file;  // certificates to trust instead of the system's
  KeyNeed key = KeyNeed::Required;
  bool tools = true, stream = true, free = false;
  Caching caching = Caching::None;
  std::string max_tokens_field = "max_tokens";  // of openai-chat
  std::string prices;                           // the name its price rows have
  std::vector<std::pair<std::string, std::string>> headers;
  int64_t requests_per_minute = 0, tokens_per_minute = 0, max_parallel = 0;  // 0 = no limit
  double timeout_seconds = 600;
  int64_t context_tokens = 128'000;  // request and answer together, unless a model's row says more
};

/// What models with a common prefix differ in from others of their wire format.
struct ModelRow {
  std::string wire, prefix;
  Thinking thinking = Thinking::None;
  bool temperature = true;
  int64_t context_tokens = 0;  // 0: its provider's
};

struct Config {
  std::vector<ProviderRow> providers;
  std::vector<ModelRow> models;  // a user's first
  PriceTable prices;
  std::string user_file;  // where it is, or would be

  /// nullptr = no such provider.
  const ProviderRow* provider(const std::string& name) const;
  /// The row of the longest prefix. "vendor/model" (OpenRouter) is looked up without its vendor
  /// too.
  ModelRow model(const std::string& wire, const std::string& name) const;
  /// Of one model, unless its provider is free (then a price of 0) or the price is unknown.
  std::optional<Price> price(const std::string& provider, const std::string& model) const;
};

/// Built-in rows, then those of `user_toml` (its text; "" = none), whose errors name `file`.
Result<Config> parse_config(const std::string& user_toml, const std::string& file);
/// With the user's file: $KERNELWRIGHT_PROVIDERS, else providers.toml in the XDG config folder,
/// when it exists.
Result<Config> load_config();

/// A model and who serves it.
struct ModelId {
  std::string provider, model;
  int64_t context_tokens = 128'000;
  std::string text() const { return provider + ":" + model; }
};
/// "provider:model"; without a colon the provider is anthropic; "command:PROGRAM ARGS" a local
/// program. Unknown providers are named with those that exist.
Result<ModelId> parse_model_id(const std::string& text, const Config& config);

/// The key: from the variable, else the file. Empty when none is needed and none is there. The
/// Error says which variable to set and never what it holds.
Result<Secret> find_key(const ProviderRow& row);

/// One line of a health check.
struct ProviderState {
  std::string name;
  bool ready = false;    // nothing is missing to call it
  bool has_key = false;  // as opposed to needing none
  std::string note;      // "key from ANTHROPIC_API_KEY", "set OPENAI_API_KEY", "no key needed"
};
std::vector<ProviderState> provider_states(const Config& config);

}  // namespace kw::llm
