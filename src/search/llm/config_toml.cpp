// Reads providers.toml and prices.toml into rows. One reader serves the built-in texts and the
// user's file, so the user can change everything that is built in. A user's provider row overrides
// single keys of the built-in row. Model rows of the user come first, and a later price row
// replaces an earlier one. Unknown keys are errors with a position and a suggestion; ignoring them
// would hide typing mistakes. Headers that look like keys are rejected, because only key_env and
// key_file keep a key secret. The cost: the built-in texts are parsed at every start.
#include "llm/config.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "core/check.h"
#include "core/text.h"
#include "core/toml.h"
#include "kPricesText.inc"
#include "kProvidersText.inc"
#include "llm/wire.h"

namespace kw::llm {
namespace {

class Reader {
 public:
  Reader(std::string file, Config& config) : file_(std::move(file)), config_(config) {}
  Status read(const toml::table& root);

 private:
  Error at(const toml::node& node, const std::string& message) const {
    const auto begin = node.source().begin;
    return input_error(fmt::format("{}:{}:{}: {}", file_, begin.line, begin.column, message));
  }
  Status check_keys(const toml::table& table, const std::vector<std::string>& known) const;
  Status text(const toml::table& table, const char* key, std::string& out) const;
  Status flag(const toml::table& table, const char* key, bool& out) const;
  Status count(const toml::table& table, const char* key, int64_t& out) const;
  Status context(const toml::table& table, int64_t& out) const;
  Status amount(const toml::table& table, const char* key, double& out) const;
  template <typename E, size_t N>
  Status word(const toml::table& table, const char* key,
              const std::pair<const char*, E> (&words)[N], E& out) const;

  Status read_provider(const std::string& name, const toml::table& table);
  Status read_headers(const toml::table& table, ProviderRow& row) const;
  Status check_provider(const toml::table& table, const ProviderRow& row) const;
  Status read_model(const toml::table& table);
  Status read_price(const toml::table& table);
  Status each(const toml::table& root, const char* key,
              Status (Reader::*read_one)(const toml::table&));

  std::string file_;
  Config& config_;
};

constexpr int64_t kLeastContext = 4096;  // less does not even hold the rules of a kernel module

constexpr std::pair<const char*, KeyNeed> kKeyWords[] = {
    {"required", KeyNeed::Required}, {"optional", KeyNeed::Optional}, {"none", KeyNeed::None}};
constexpr std::pair<const char*, Caching> kCachingWords[] = {
    {"none", Caching::None}, {"automatic", Caching::Automatic}, {"marks", Caching::Marks}};
constexpr std::pair<const char*, Thinking> kThinkingWords[] = {{"none", Thinking::None},
                                                               {"budget", Thinking::Budget},
                                                               {"adaptive", Thinking::Adaptive},
                                                               {"effort", Thinking::Effort},
                                                               {"level", Thinking::Level}};

bool is_key_header(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name == "cookie" || name.find("auth") != std::string::npos ||
         name.find("key") != std::string::npos || name.find("token") != std::string::npos;
}

Status Reader::check_keys(const toml::table& table, const std::vector<std::string>& known) const {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return at(node, fmt::format("unknown key '{}'{}; known are: {}", name,
                                did_you_mean(name, known), join(known, ", ")));
  }
  return Done{};
}

Status Reader::text(const toml::table& table, const char* key, std::string& out) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return Done{};
  const auto value = node->value_exact<std::string>();
  if (!value || value->find_first_of("\r\n") != std::string::npos ||
      value->find('\0') != std::string::npos)
    return at(*node, fmt::format("'{}' must be a text of one line", key));
  out = *value;
  return Done{};
}

Status Reader::flag(const toml::table& table, const char* key, bool& out) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return Done{};
  const auto value = node->value_exact<bool>();
  if (!value) return at(*node, fmt::format("'{}' must be true or false", key));
  out = *value;
  return Done{};
}

Status Reader::count(const toml::table& table, const char* key, int64_t& out) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return Done{};
  const auto value = node->value_exact<int64_t>();
  if (!value || *value < 0) return at(*node, fmt::format("'{}' must be a whole number", key));
  out = *value;
  return Done{};
}

Status Reader::context(const toml::table& table, int64_t& out) const {
  KW_TRY(count(table, "context_tokens", out));
  const toml::node* node = table.get("context_tokens");
  if (node == nullptr || out >= kLeastContext) return Done{};
  return at(*node, fmt::format("'context_tokens' must be {} or more", kLeastContext));
}

Status Reader::amount(const toml::table& table, const char* key, double& out) const {
  const toml::node* node = table.get(key);
  if (node == nullptr) return Done{};
  const auto value = node->value<double>();
  if (!node->is_number() || !value || !(*value >= 0 && *value < 1e9))
    return at(*node, fmt::format("'{}' must be a number, 0 or more", key));
  out = *value;
  return Done{};
}

template <typename E, size_t N>
Status Reader::word(const toml::table& table, const char* key,
                    const std::pair<const char*, E> (&words)[N], E& out) const {
  std::string found;
  KW_TRY(text(table, key, found));
  if (found.empty()) return Done{};
  std::vector<std::string> known;
  for (const auto& [name, value] : words) {
    known.emplace_back(name);
    if (found != name) continue;
    out = value;
    return Done{};
  }
  return at(*table.get(key), fmt::format("'{}' must be one of {}", key, join(known, ", ")));
}

Status Reader::read_headers(const toml::table& table, ProviderRow& row) const {
  const toml::node* node = table.get("headers");
  if (node == nullptr) return Done{};
  const toml::table* headers = node->as_table();
  if (headers == nullptr) return at(*node, "'headers' must be a table of texts");
  row.headers.clear();
  for (const auto& [key, value] : *headers) {
    const std::string name(key.str());
    if (name.empty() ||
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789-_") != std::string::npos)
      return at(value, fmt::format("'{}' is not a name of a header", name));
    if (is_key_header(name))
      return at(value, "a key belongs into a key_env or a key_file, where it is kept secret");
    std::string content;
    KW_TRY(text(*headers, name.c_str(), content));
    row.headers.emplace_back(name, content);
  }
  return Done{};
}

Status Reader::check_provider(const toml::table& table, const ProviderRow& row) const {
  if (find_wire(row.wire) == nullptr) {
    return at(table, fmt::format("provider '{}': wire must be one of {}", row.name,
                                 join(wire_names(), ", ")));
  }
  const bool https = row.base_url.rfind("https://", 0) == 0;
  if (!https && row.base_url.rfind("http://", 0) != 0) {
    return at(table, fmt::format("provider '{}': base_url must begin with https:// (or http://)",
                                 row.name));
  }
  if (row.base_url.find_first_of(" ?#@") != std::string::npos)
    return at(table, fmt::format("provider '{}': base_url must be a plain address", row.name));
  if (row.max_tokens_field != "max_tokens" && row.max_tokens_field != "max_completion_tokens")
    return at(table, "'max_tokens_field' must be max_tokens or max_completion_tokens");
  return Done{};
}

Status Reader::read_provider(const std::string& name, const toml::table& table) {
  KW_TRY(check_keys(
      table, {"wire", "base_url", "key_env", "key_file", "ca_file", "key", "tools", "stream",
              "free", "caching", "max_tokens_field", "prices", "headers", "requests_per_minute",
              "tokens_per_minute", "max_parallel", "timeout_seconds", "context_tokens"}));
  if (name.empty() || name == "command" || name.find_first_of(": ") != std::string::npos)
    return at(table, fmt::format("'{}' cannot name a provider", name));
  const ProviderRow* old = config_.provider(name);
  ProviderRow row = old != nullptr ? *old : ProviderRow{};
  row.name = name;
  KW_TRY(text(table, "wire", row.wire));
  KW_TRY(text(table, "base_url", row.base_url));
  KW_TRY(text(table, "key_env", row.key_env));
  KW_TRY(text(table, "key_file", row.key_file));
  KW_TRY(text(table, "ca_file", row.ca_file));
  KW_TRY(text(table, "max_tokens_field", row.max_tokens_field));
  KW_TRY(text(table, "prices", row.prices));
  KW_TRY(word(table, "key", kKeyWords, row.key));
  KW_TRY(word(table, "caching", kCachingWords, row.caching));
  KW_TRY(flag(table, "tools", row.tools));
  KW_TRY(flag(table, "stream", row.stream));
  KW_TRY(flag(table, "free", row.free));
  KW_TRY(count(table, "requests_per_minute", row.requests_per_minute));
  KW_TRY(count(table, "tokens_per_minute", row.tokens_per_minute));
  KW_TRY(count(table, "max_parallel", row.max_parallel));
  KW_TRY(context(table, row.context_tokens));
  KW_TRY(amount(table, "timeout_seconds", row.timeout_seconds));
  KW_TRY(read_headers(table, row));
  while (!row.base_url.empty() && row.base_url.back() == '/') row.base_url.pop_back();
  KW_TRY(check_provider(table, row));
  if (old == nullptr) {
    config_.providers.push_back(std::move(row));
  } else {
    config_.providers[static_cast<size_t>(old - config_.providers.data())] = std::move(row);
  }
  return Done{};
}

Status Reader::read_model(const toml::table& table) {
  KW_TRY(check_keys(table, {"wire", "prefix", "thinking", "temperature", "context_tokens"}));
  ModelRow row;
  KW_TRY(text(table, "wire", row.wire));
  KW_TRY(text(table, "prefix", row.prefix));
  KW_TRY(word(table, "thinking", kThinkingWords, row.thinking));
  KW_TRY(flag(table, "temperature", row.temperature));
  KW_TRY(context(table, row.context_tokens));
  if (find_wire(row.wire) == nullptr)
    return at(table, fmt::format("[[model]]: wire must be one of {}", join(wire_names(), ", ")));
  config_.models.push_back(std::move(row));
  return Done{};
}

Status Reader::read_price(const toml::table& table) {
  KW_TRY(check_keys(
      table, {"model", "input", "output", "cache_read", "cache_write", "above", "input_above",
              "output_above", "cache_read_above", "cache_write_above", "as_of", "source"}));
  Price price;
  KW_TRY(text(table, "model", price.model));
  KW_TRY(text(table, "as_of", price.as_of));
  KW_TRY(text(table, "source", price.source));
  if (price.model.find(':') == std::string::npos || !table.contains("input") ||
      !table.contains("output"))
    return at(table, "[[price]] needs model = \"provider:model\", input and output");
  const auto rates = [&](const std::string& suffix, const Rates& fallback, Rates& out) -> Status {
    out = fallback;
    KW_TRY(amount(table, ("input" + suffix).c_str(), out.input));
    KW_TRY(amount(table, ("output" + suffix).c_str(), out.output));
    out.cache_read = out.cache_write = out.input;
    KW_TRY(amount(table, ("cache_read" + suffix).c_str(), out.cache_read));
    return amount(table, ("cache_write" + suffix).c_str(), out.cache_write);
  };
  KW_TRY(rates("", {}, price.rates));
  KW_TRY(count(table, "above", price.above));
  KW_TRY(rates("_above", price.rates, price.rates_above));
  config_.prices.add(std::move(price));
  return Done{};
}

Status Reader::each(const toml::table& root, const char* key,
                    Status (Reader::*read_one)(const toml::table&)) {
  const toml::node* node = root.get(key);
  if (node == nullptr) return Done{};
  const toml::array* rows = node->as_array();
  if (rows == nullptr) return at(*node, fmt::format("'{}' is written [[{}]]", key, key));
  for (const toml::node& row : *rows) {
    if (row.as_table() == nullptr) return at(row, fmt::format("'{}' is written [[{}]]", key, key));
    KW_TRY((this->*read_one)(*row.as_table()));
  }
  return Done{};
}

Status Reader::read(const toml::table& root) {
  KW_TRY(check_keys(root, {"provider", "model", "price"}));
  if (const toml::node* node = root.get("provider")) {
    const toml::table* providers = node->as_table();
    if (providers == nullptr) return at(*node, "'provider' is written [provider.NAME]");
    for (const auto& [key, value] : *providers) {
      if (value.as_table() == nullptr) return at(value, "a provider is written [provider.NAME]");
      KW_TRY(read_provider(std::string(key.str()), *value.as_table()));
    }
  }
  KW_TRY(each(root, "model", &Reader::read_model));
  return each(root, "price", &Reader::read_price);
}

Status read_text(const std::string& text, const std::string& file, Config& config) {
  const toml::parse_result parsed = toml::parse(text, file);
  if (!parsed) {
    const auto& error = parsed.error();
    return input_error(fmt::format("{}:{}:{}: {}", file, error.source().begin.line,
                                   error.source().begin.column, error.description()));
  }
  return Reader(file, config).read(parsed.table());
}

}  // namespace

Result<Config> parse_config(const std::string& user_toml, const std::string& file) {
  Config config;
  config.user_file = file;
  const auto prices = read_text(kPricesText, "built-in prices", config);
  KW_CHECK(prices, "the built-in prices must be readable: " + prices.error().message);
  const auto providers = read_text(kProvidersText, "built-in providers", config);
  KW_CHECK(providers, "the built-in providers must be readable: " + providers.error().message);
  const std::vector<ModelRow> built_in = std::exchange(config.models, {});
  KW_TRY(read_text(user_toml, file, config));
  config.models.insert(config.models.end(), built_in.begin(), built_in.end());
  return config;
}

}  // namespace kw::llm
