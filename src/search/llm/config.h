// Which providers exist, how each is reached, and what models cost: the built-in rows, then the
// user's providers.toml. Also finds keys and returns them as Secrets.
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
/// How a model takes its reasoning setting: not at all, in tokens, its own choice, a word, a level.
enum class Thinking : uint8_t { None, Budget, Adaptive, Effort, Level };

/// One provider.
struct ProviderRow {
  std::string name;
  std::string wire;
  std::string base_url;
  std::string key_env, key_file;
  std::string ca_file;  // trusted certificates; "": the system's
  KeyNeed key = KeyNeed::Required;
  bool tools = true, stream = true, free = false;
  Caching caching = Caching::None;
  std::string max_tokens_field = "max_tokens";  // for wire openai-chat
  std::string prices;                           // provider name in its price rows; "": its own
  std::vector<std::pair<std::string, std::string>> headers;
  int64_t requests_per_minute = 0, tokens_per_minute = 0, max_parallel = 0;  // 0: no limit
  double timeout_seconds = 600;
  int64_t context_tokens = 128'000;  // request and answer together; the model's row overrides it
};

/// How models with a common prefix differ from others of the same wire format.
struct ModelRow {
  std::string wire, prefix;
  Thinking thinking = Thinking::None;
  bool temperature = true;
  int64_t context_tokens = 0;  // 0: the value of its provider
};

struct Config {
  std::vector<ProviderRow> providers;
  std::vector<ModelRow> models;  // the user's rows first
  PriceTable prices;
  std::string user_file;  // its path, also when it does not exist

  /// nullptr: unknown provider.
  const ProviderRow* provider(const std::string& name) const;
  /// The row with the longest matching prefix. "vendor/model" (OpenRouter) is also matched without
  /// its vendor.
  ModelRow model(const std::string& wire, const std::string& name) const;
  /// The price of one model; 0 when its provider is free; not set when unknown.
  std::optional<Price> price(const std::string& provider, const std::string& model) const;
};

/// The built-in rows, then those of `user_toml` (TOML text; "": none). Errors in it name `file`.
Result<Config> parse_config(const std::string& user_toml, const std::string& file);
/// The user's file is $KERNELWRIGHT_PROVIDERS; if not set, providers.toml in the XDG config folder
/// when that exists.
Result<Config> load_config();

/// A model and the provider that serves it.
struct ModelId {
  std::string provider, model;
  int64_t context_tokens = 128'000;
  std::string text() const { return provider + ":" + model; }
};
/// "provider:model". Without a colon the provider is anthropic; "command:PROGRAM ARGS" is a local
/// program. The Error for an unknown provider lists the known ones.
Result<ModelId> parse_model_id(const std::string& text, const Config& config);

/// The key from the variable; if not set, from the file. Empty when no key is needed or an optional
/// one is not set. The Error names the variable to set and never its value.
Result<Secret> find_key(const ProviderRow& row);

/// The keys of all providers that have one; those that cannot be read are left out.
std::vector<Secret> all_keys(const Config& config);

/// One line of a health check.
struct ProviderState {
  std::string name;
  bool ready = false;    // it can be called
  bool has_key = false;  // a key was found
  std::string note;      // "key from OPENAI_API_KEY", "openai needs a key: …", "URL, no key"
};
std::vector<ProviderState> provider_states(const Config& config);

}  // namespace kw::llm
