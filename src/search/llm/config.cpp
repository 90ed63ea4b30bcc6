#include "llm/config.h"

#include <algorithm>

#include "core/text.h"
#include "os/files.h"

namespace kw::llm {
namespace {

constexpr const char* kBareProvider = "anthropic";
constexpr const char* kCommand = "command";

std::string user_file() {
  if (const std::string named = os::env("KERNELWRIGHT_PROVIDERS"); !named.empty()) return named;
  return os::config_directory() + "/providers.toml";
}

std::vector<std::string> provider_names(const Config& config) {
  std::vector<std::string> names;
  for (const ProviderRow& row : config.providers) names.push_back(row.name);
  names.push_back(kCommand);
  return names;
}

Status check_key(const std::string& key, const std::string& from) {
  if (key.size() > kLongestSecret)
    return input_error("{}: a key has at most {} characters", from, kLongestSecret);
  for (const char c : key) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f)
      return input_error("{}: a key is one word without blanks", from);
  }
  return Done{};
}

}  // namespace

const ProviderRow* Config::provider(const std::string& name) const {
  for (const ProviderRow& row : providers) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

ModelRow Config::model(const std::string& wire, const std::string& name) const {
  const ModelRow* best = nullptr;
  const std::string plain = name.substr(name.rfind('/') + 1);
  for (const ModelRow& row : models) {
    if (row.wire != wire) continue;
    if (!name.starts_with(row.prefix) && !plain.starts_with(row.prefix)) continue;
    if (best == nullptr || row.prefix.size() > best->prefix.size()) best = &row;
  }
  return best != nullptr ? *best : ModelRow{wire, "", Thinking::None, true};
}

std::optional<Price> Config::price(const std::string& name, const std::string& model) const {
  const ProviderRow* row = provider(name);
  const std::string& owner = row != nullptr && !row->prices.empty() ? row->prices : name;
  if (const Price* found = prices.find(owner, model)) return *found;
  if (row == nullptr || !row->free) return std::nullopt;
  Price nothing;
  nothing.model = name + ":" + model;
  nothing.source = "served by the user";
  return nothing;
}

Result<Config> load_config() {
  const std::string file = user_file();
  const bool named = !os::env("KERNELWRIGHT_PROVIDERS").empty();
  if (named && !file.starts_with("/"))
    return input_error("$KERNELWRIGHT_PROVIDERS is '{}'; it must be an absolute path", file);
  if (!named && !os::exists(file)) return parse_config("", file);
  return parse_config(KW_TRY(os::read_file(file, 1 << 20)), file);
}

Result<ModelId> parse_model_id(const std::string& text, const Config& config) {
  const size_t colon = text.find(':');
  ModelId id;
  id.provider = colon == std::string::npos ? kBareProvider : text.substr(0, colon);
  id.model = colon == std::string::npos ? text : text.substr(colon + 1);
  if (trim(id.model).empty()) return input_error("'{}' names no model; write provider:model", text);
  if (id.provider == kCommand) return id;
  if (const ProviderRow* row = config.provider(id.provider); row != nullptr) {
    const int64_t own = config.model(row->wire, id.model).context_tokens;
    id.context_tokens = own > 0 ? own : row->context_tokens;
    return id;
  }
  const std::vector<std::string> names = provider_names(config);
  return input_error("'{}': unknown provider '{}'{}; known: {}; add others to {}", text,
                     id.provider, did_you_mean(id.provider, names), join(names, ", "),
                     config.user_file);
}

Result<Secret> find_key(const ProviderRow& row) {
  if (row.key == KeyNeed::None) return Secret();
  if (!row.key_env.empty()) {
    const std::string key(trim(os::env(row.key_env.c_str())));
    KW_TRY(check_key(key, row.key_env));
    if (!key.empty()) return Secret(key);
  }
  if (!row.key_file.empty()) return read_secret_file(row.key_file);
  if (row.key == KeyNeed::Optional) return Secret();
  return input_error(
      "{} needs a key: set {}, or name a key_file (mode 600) for it in providers.toml", row.name,
      row.key_env.empty() ? "a key_env" : row.key_env);
}

std::vector<Secret> all_keys(const Config& config) {
  std::vector<Secret> keys;
  for (const ProviderRow& row : config.providers) {
    if (auto key = find_key(row); key && !key->empty()) keys.push_back(std::move(key).value());
  }
  return keys;
}

std::vector<ProviderState> provider_states(const Config& config) {
  std::vector<ProviderState> states;
  for (const ProviderRow& row : config.providers) {
    ProviderState state{row.name, false, false, ""};
    const auto key = find_key(row);
    state.ready = key.has_value();
    state.has_key = key && !key->empty();
    if (!key) {
      state.note = key.error().message;
    } else if (key->empty()) {
      state.note = row.base_url + ", no key";
    } else if (!os::env(row.key_env.c_str()).empty()) {
      state.note = "key from " + row.key_env;
    } else {
      state.note = "key from " + row.key_file;
    }
    states.push_back(std::move(state));
  }
  return states;
}

}  // namespace kw::llm
