#include "core/toml_reader.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/contains.h"
#include "core/text.h"

namespace kw {

std::string toml_place(const std::string& file, const toml::source_position& at) {
  return fmt::format("{}:{}:{}", file, at.line, at.column);
}

Error toml_error(const std::string& file, const toml::node& node, std::string_view what) {
  return input_error("{}: {}", toml_place(file, node.source().begin), what);
}

Result<toml::table> parse_toml(const std::string& text, const std::string& file) {
  toml::parse_result parsed = toml::parse(text, file);
  if (parsed) return std::move(parsed).table();
  const toml::parse_error& error = parsed.error();
  return input_error("{}: {}", toml_place(file, error.source().begin), error.description());
}

void TomlReader::problem(const char* key, std::string_view what) {
  const toml::node* node = table_.get(key);
  const auto begin = (node != nullptr ? node->source() : table_.source()).begin;
  problems_.push_back(fmt::format("{}: {}", toml_place(file_, begin), what));
}

void TomlReader::wrong(const std::string& key, const toml::node& node, std::string_view must_be) {
  problems_.push_back(
      fmt::format("{}: '{}' must be {}", toml_place(file_, node.source().begin), key, must_be));
}

void TomlReader::check_new(const std::string& key, const toml::node& node,
                           const std::vector<std::string>& list) {
  if (std::ranges::count(list, list.back()) > 1 && !list.back().empty())
    problems_.push_back(fmt::format("{}: '{}' has '{}' twice",
                                    toml_place(file_, node.source().begin), key, list.back()));
}

std::optional<double> TomlReader::read_number(const std::string& key, const toml::node& node,
                                              bool whole, Within within) {
  const std::optional<double> value = node.value<double>();
  if (!value || !(whole ? node.is_integer() : node.is_number())) {
    wrong(key, node, whole ? "a whole number" : "a number");
    return std::nullopt;
  }
  const Within all;
  const bool open = within.low == all.low && within.high == all.high;
  if (open || (*value >= within.low && *value <= within.high)) return value;
  if (within.low == finite.low)
    wrong(key, node, "a finite number");
  else if (within.high == all.high)
    wrong(key, node, fmt::format("{:.15g} or more", within.low));
  else
    wrong(key, node, fmt::format("from {:.15g} to {:.15g}", within.low, within.high));
  return std::nullopt;
}

void TomlReader::read_string(const std::string& key, const toml::node& node, std::string& out) {
  const auto value = node.value_exact<std::string>();
  const bool one_line = value && value->find_first_of(std::string_view("\r\n\0", 3)) == value->npos;
  if (strings_ == Strings::OneLine && !one_line) return wrong(key, node, "a string of one line");
  if (!value || (strings_ == Strings::NotBlank && trim(*value).empty()))
    return wrong(key, node, "a string");
  out = strings_ == Strings::NotBlank ? std::string(trim(*value)) : *value;
}

void TomlReader::read_flag(const std::string& key, const toml::node& node, bool& out) {
  const auto value = node.value_exact<bool>();
  if (!value) return wrong(key, node, "true or false");
  out = *value;
}

std::optional<size_t> TomlReader::read_word(const std::string& key, const toml::node& node,
                                            Words words) {
  const size_t before = problems_.size();
  std::string found;
  read_string(key, node, found);
  if (problems_.size() > before) return std::nullopt;
  const std::vector<std::string> known(words.begin(), words.end());
  const auto at = std::ranges::find(known, found);
  if (at != known.end()) return static_cast<size_t>(at - known.begin());
  wrong(key, node,
        fmt::format("one of {}, not '{}'{}", join(known, ", "), found, did_you_mean(found, known)));
  return std::nullopt;
}

std::vector<std::string> TomlReader::finish() {
  std::vector<std::string> all;
  for (const auto& [key, node] : table_) {
    const std::string name(key.str());
    if (contains(known_, name)) continue;
    all.push_back(fmt::format(
        "{}: unknown key '{}'{}{}; known are: {}", toml_place(file_, key.source().begin), name,
        where_.empty() ? "" : " in " + where_, did_you_mean(name, known_), join(known_, ", ")));
  }
  all.insert(all.end(), problems_.begin(), problems_.end());
  return all;
}

Status TomlReader::status() {
  const std::vector<std::string> all = finish();
  if (!all.empty()) return input_error("{}", all.front());
  return Done{};
}

}  // namespace kw
