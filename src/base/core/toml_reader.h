// Reads a TOML table into members, or into a record by its list of members (fields.h). People write
// TOML, so the reader is strict: a value of another type, a missing required member and an unknown
// key are problems, each with its place. (Our own programs write JSON: json_reader.h is lenient.)
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/fields.h"
#include "core/result.h"
#include "core/toml.h"

namespace kw {

/// What a number may be, both ends included. A NaN is never within.
struct Within {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
inline constexpr Within finite{-std::numeric_limits<double>::max(),
                               std::numeric_limits<double>::max()};

/// "file:line:column".
std::string toml_place(const std::string& file, const toml::source_position& at);
/// An input Error with the place of the node.
Error toml_error(const std::string& file, const toml::node& node, std::string_view what);
/// The input Error names the place where the text is not TOML.
Result<toml::table> parse_toml(const std::string& text, const std::string& file);

class TomlReader {
 public:
  /// What every string must be. NotBlank: it is also trimmed.
  enum class Strings : uint8_t { Any, OneLine, NotBlank };

  /// `where` names the table in messages about unknown keys: "[precision]".
  TomlReader(const std::string& file, const toml::table& table, Strings strings = Strings::Any,
             std::string where = "")
      : file_(file), table_(table), strings_(strings), where_(std::move(where)) {}

  /// A member that is missing keeps its value.
  template <class T, class... Options>
  TomlReader& operator()(const char* key, T&& member, const Options&... options) {
    if constexpr (!is_computed<std::remove_cvref_t<T>>) {
      if (const toml::node* node = get(key))
        read(key, *node, member, options...);
      else if ((std::is_same_v<Options, Required> || ...))
        problem(key, "'" + std::string(key) + "' is missing");
    }
    return *this;
  }
  /// The value of a key that the caller reads itself; null if it is missing.
  const toml::node* get(const char* key) {
    known_.emplace_back(key);
    return table_.get(key);
  }
  /// Adds "file:line:column: what", at the key's value if it has one.
  void problem(const char* key, std::string_view what);
  /// "file:line:column" of the table.
  std::string place() const { return toml_place(file_, table_.source().begin); }

  /// Call it last: all problems, unknown keys first.
  std::vector<std::string> finish();
  /// Call it last: the first problem as an input Error.
  Status status();

 private:
  template <class T, class... Options>
  void read(const std::string& key, const toml::node& node, T& out, const Options&... options) {
    if constexpr (std::is_same_v<T, std::string>) {
      read_string(key, node, out);
    } else if constexpr (std::is_same_v<T, bool>) {
      read_flag(key, node, out);
    } else if constexpr (std::is_arithmetic_v<T>) {
      const std::optional<double> value =
          read_number(key, node, std::is_integral_v<T>, within_of(options...));
      if (!value) return;
      if constexpr (std::is_integral_v<T>)
        out = static_cast<T>(*node.value<int64_t>());
      else
        out = *value;
    } else if constexpr (std::is_enum_v<T>) {
      const std::optional<size_t> at = read_word(key, node, words_of(options...));
      if (at) out = static_cast<T>(*at);
    } else {  // a record
      const toml::table* table = node.as_table();
      if (table == nullptr) return wrong(key, node, "a table");
      TomlReader inner(file_, *table, strings_);
      fields(inner, out);
      for (std::string& one : inner.finish()) problems_.push_back(std::move(one));
    }
  }
  template <class T, class... Options>
  void read(const std::string& key, const toml::node& node, std::optional<T>& out,
            const Options&... options) {
    read(key, node, out.emplace(), options...);
  }
  template <class T, class... Options>
  void read(const std::string& key, const toml::node& node, std::vector<T>& out,
            const Options&... options) {
    const toml::array* list = node.as_array();
    if (list == nullptr) return wrong(key, node, "a list");
    out.clear();
    for (const toml::node& item : *list) {
      read(key, item, out.emplace_back(), options...);
      if constexpr (std::is_same_v<T, std::string>) check_new(key, item, out);
    }
  }
  /// A table of values by name.
  template <class T, class... Options>
  void read(const std::string& key, const toml::node& node,
            std::vector<std::pair<std::string, T>>& out, const Options&... options) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return wrong(key, node, "a table");
    out.clear();
    for (const auto& [name, value] : *table) {
      out.emplace_back(std::string(name.str()), T{});
      read(out.back().first, value, out.back().second, options...);
    }
  }

  void wrong(const std::string& key, const toml::node& node, std::string_view must_be);
  /// No string is in a list twice.
  void check_new(const std::string& key, const toml::node& node,
                 const std::vector<std::string>& list);
  void read_string(const std::string& key, const toml::node& node, std::string& out);
  void read_flag(const std::string& key, const toml::node& node, bool& out);
  std::optional<double> read_number(const std::string& key, const toml::node& node, bool whole,
                                    Within within);
  std::optional<size_t> read_word(const std::string& key, const toml::node& node, Words words);
  template <class... Options>
  static Within within_of(const Options&... options) {
    Within within;
    [[maybe_unused]] const auto look = [&](const auto& option) {
      if constexpr (std::is_same_v<decltype(option), const Within&>) within = option;
    };
    (look(options), ...);
    return within;
  }
  template <class... Options>
  static Words words_of(const Options&... options) {
    static_assert((is_words<Options> || ...), "an enum needs its words");
    Words words;
    [[maybe_unused]] const auto look = [&](const auto& option) {
      if constexpr (is_words<std::remove_cvref_t<decltype(option)>>) words = Words(option);
    };
    (look(options), ...);
    return words;
  }

  const std::string& file_;
  const toml::table& table_;
  Strings strings_;
  std::string where_;
  std::vector<std::string> known_, problems_;
};

/// Reads a table into a record. The Error is the first problem.
template <class T>
Status read_toml(const std::string& file, const toml::table& table, T& record,
                 TomlReader::Strings strings = TomlReader::Strings::Any) {
  TomlReader reader(file, table, strings);
  fields(reader, record);
  return reader.status();
}

}  // namespace kw
