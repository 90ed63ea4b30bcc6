// Reads providers.toml and prices.toml into rows. One reader serves the built-in texts and the
// user's file, so the user can change everything that is built in. A user's provider row overrides
// single keys of the built-in row. Model rows of the user come first, and a later price row
// replaces an earlier one. Unknown keys are errors with a position and a suggestion; ignoring them
// would hide typing mistakes. Headers that look like keys are rejected, because only key_env and
// key_file keep a key secret. The cost: the built-in texts are parsed at every start.
#include "llm/config.h"

#include <fmt/core.h>

#include "core/check.h"
#include "core/text.h"
#include "core/toml_reader.h"
#include "core/web_address.h"
#include "kPricesText.inc"
#include "kProvidersText.inc"
#include "llm/wire.h"

namespace kw::llm {
namespace {

constexpr Within kContext{4096};  // less does not even hold the rules of a kernel module
constexpr Within kCount{0}, kAmount{0, 1e9};
constexpr const char* kKeyWords[] = {"required", "optional", "none"};
constexpr const char* kCachingWords[] = {"none", "automatic", "marks"};
constexpr const char* kThinkingWords[] = {"none", "budget", "adaptive", "effort", "level"};

using Headers = std::vector<std::pair<std::string, std::string>>;

bool is_key_header(const std::string& header) {
  const std::string name = lower_case(header);
  return name == "cookie" || name.find("auth") != std::string::npos ||
         name.find("key") != std::string::npos || name.find("token") != std::string::npos;
}

}  // namespace

void fields(auto& v, ProviderRow& r) {
  v("wire", r.wire)("base_url", r.base_url)("key_env", r.key_env)("key_file", r.key_file);
  v("ca_file", r.ca_file)("key", r.key, kKeyWords)("tools", r.tools)("stream", r.stream);
  v("free", r.free)("caching", r.caching, kCachingWords);
  v("max_tokens_field", r.max_tokens_field)("prices", r.prices)("headers", r.headers);
  v("requests_per_minute", r.requests_per_minute, kCount);
  v("tokens_per_minute", r.tokens_per_minute, kCount)("max_parallel", r.max_parallel, kCount);
  v("timeout_seconds", r.timeout_seconds, kAmount);
  v("context_tokens", r.context_tokens, kContext);
}

void fields(auto& v, ModelRow& r) {
  v("wire", r.wire)("prefix", r.prefix)("thinking", r.thinking, kThinkingWords);
  v("temperature", r.temperature)("context_tokens", r.context_tokens, kContext);
}

/// A rate that is missing is that of the input, and above the limit that below it.
void fields(auto& v, Price& p) {
  Rates& below = p.rates;
  v("model", p.model)("input", below.input, kAmount)("output", below.output, kAmount);
  below.cache_read = below.cache_write = below.input;
  v("cache_read", below.cache_read, kAmount)("cache_write", below.cache_write, kAmount);
  v("above", p.above, kCount);
  Rates& above = p.rates_above = below;
  v("input_above", above.input, kAmount)("output_above", above.output, kAmount);
  above.cache_read = above.cache_write = above.input;
  v("cache_read_above", above.cache_read, kAmount);
  v("cache_write_above", above.cache_write, kAmount);
  v("as_of", p.as_of)("source", p.source);
}

namespace {

/// A header goes to the provider as it is, so it has a plain name, and no key.
Status check_headers(const std::string& file, const toml::table& table, const Headers& headers) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  const toml::node* node = table.get("headers");
  if (node == nullptr) return Done{};
  for (const auto& [name, value] : headers) {
    if (name.empty() || name.find_first_not_of(kPlain) != std::string::npos)
      return toml_error(file, *node, fmt::format("'{}' is not a name of a header", name));
    if (is_key_header(name))
      return toml_error(file, *node, "put the key in key_env or key_file, where it is kept secret");
  }
  return Done{};
}

class Reader {
 public:
  Reader(std::string file, Config& config) : file_(std::move(file)), config_(config) {}
  Status read(const toml::table& root);

 private:
  Error at(const toml::node& node, const std::string& message) const {
    return toml_error(file_, node, message);
  }
  template <class T>
  Status read_row(const toml::table& table, T& row) const {
    return read_toml(file_, table, row, TomlReader::Strings::OneLine);
  }
  Status read_provider(const std::string& name, const toml::table& table);
  Status check_provider(const toml::table& table, const ProviderRow& row) const;
  Status read_model(const toml::table& table);
  Status read_price(const toml::table& table);
  Status each(const toml::table& root, const char* key,
              Status (Reader::*read_one)(const toml::table&));

  std::string file_;
  Config& config_;
};

Status Reader::check_provider(const toml::table& table, const ProviderRow& row) const {
  if (find_wire(row.wire) == nullptr) {
    return at(table, fmt::format("provider '{}': wire must be one of {}", row.name,
                                 join(wire_names(), ", ")));
  }
  const auto address = read_address(row.base_url);
  if (!address || address->rest.find_first_of("?#") != std::string::npos) {
    return at(table, fmt::format("provider '{}': base_url must be a plain address: "
                                 "https://HOST[:PORT]/PATH (or http://), with a name or four "
                                 "numbers or [IPv6] as HOST, and no user, query or fragment",
                                 row.name));
  }
  if (row.max_tokens_field != "max_tokens" && row.max_tokens_field != "max_completion_tokens")
    return at(table, "'max_tokens_field' must be max_tokens or max_completion_tokens");
  return Done{};
}

Status Reader::read_provider(const std::string& name, const toml::table& table) {
  if (name.empty() || name == "command" || name.find_first_of(": ") != std::string::npos)
    return at(table, fmt::format("'{}' cannot name a provider", name));
  const ProviderRow* old = config_.provider(name);
  ProviderRow row = old != nullptr ? *old : ProviderRow{};
  row.name = name;
  KW_TRY(read_row(table, row));
  KW_TRY(check_headers(file_, table, row.headers));
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
  ModelRow row;
  KW_TRY(read_row(table, row));
  if (find_wire(row.wire) == nullptr)
    return at(table, fmt::format("[[model]]: wire must be one of {}", join(wire_names(), ", ")));
  config_.models.push_back(std::move(row));
  return Done{};
}

Status Reader::read_price(const toml::table& table) {
  Price price;
  KW_TRY(read_row(table, price));
  if (price.model.find(':') == std::string::npos || !table.contains("input") ||
      !table.contains("output"))
    return at(table, "[[price]] needs model = \"provider:model\", input and output");
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
  TomlReader keys(file_, root);
  for (const char* key : {"provider", "model", "price"}) keys.get(key);
  KW_TRY(keys.status());
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
  const toml::table root = KW_TRY(parse_toml(text, file));
  return Reader(file, config).read(root);
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
