// Reads a record from JSON, by its list of members (fields.h).
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/fields.h"
#include "core/json.h"
#include "core/result.h"
#include "core/text.h"

namespace kw {

/// Reads each member. What is missing or has another type keeps the value that it has.
class JsonReader {
 public:
  explicit JsonReader(const Json& json) : json_(json) {}

  template <class T, class... Options>
  JsonReader& operator()(std::string_view key, T&& member, const Options&... options) {
    using Member = std::remove_cvref_t<T>;
    if constexpr (!is_computed<Member>) {
      bool good = false;
      if constexpr (std::is_enum_v<Member>)
        good = (read_word(json_[key], member, options) || ...);
      else
        good = read(json_[key], member);
      if (!good && (std::is_same_v<Options, Required> || ...)) note(key);
    }
    return *this;
  }
  template <class Body>
  void group(std::string_view key, Body body) {
    JsonReader inner(json_[key]);
    body(inner);
    if (problem_.empty()) problem_ = inner.problem_;
  }
  /// The first required member that could not be read: "'kind' is missing". "": there is none.
  const std::string& problem() const { return problem_; }

  /// Whether the JSON has the type of the value.
  template <class T>
  static bool read(const Json& json, T& value) {
    if constexpr (requires { from_json(json, value); }) {
      return from_json(json, value);
    } else if constexpr (std::is_same_v<T, Json>) {
      value = json;
      return !json.is_null();
    } else if constexpr (std::is_same_v<T, bool>) {
      value = json.as_bool(value);
      return json.is_bool();
    } else if constexpr (std::is_integral_v<T>) {
      // A number that the type cannot hold is not read. 64 bits hold all, unsigned ones as written.
      const int64_t number = json.as_int();
      const bool fits = sizeof(T) == sizeof(number) ||
                        (number >= int64_t{std::numeric_limits<T>::min()} &&
                         number <= static_cast<int64_t>(std::numeric_limits<T>::max()));
      if (json.is_int() && fits) value = static_cast<T>(number);
      return json.is_int() && fits;
    } else if constexpr (std::is_floating_point_v<T>) {
      value = json.as_double(value);
      return json.is_number();
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (json.is_string()) value = json.as_string();
      return json.is_string();
    } else {
      JsonReader reader(json);
      fields(reader, value);
      return json.is_object() && reader.problem_.empty();
    }
  }
  template <class T>
  static bool read(const Json& json, std::optional<T>& value) {
    T found{};
    const bool good = read(json, found);
    value = good ? std::optional<T>(std::move(found)) : std::nullopt;
    return good || json.is_null();
  }
  template <class T>
  static bool read(const Json& json, std::vector<T>& values) {
    if (!json.is_array()) return false;
    values.clear();
    bool good = true;
    for (const Json& item : json.items()) good = read(item, values.emplace_back()) && good;
    return good;
  }
  template <class K, class T>
  static bool read(const Json& json, std::map<K, T>& values) {
    if (!json.is_object()) return false;
    values.clear();
    bool good = true;
    for (const auto& [key, value] : json.members()) {
      if constexpr (std::is_arithmetic_v<K>) {
        const auto number = parse_int(key);
        good = number && read(value, values[static_cast<K>(*number)]) && good;
      } else {
        good = read(value, values[key]) && good;
      }
    }
    return good;
  }

 private:
  template <class E, class Option>
  static bool read_word(const Json& json, E& member, const Option& option) {
    if constexpr (is_words<Option>) {
      const Words words(option);
      const auto at = std::ranges::find(words, std::string_view(json.as_string()));
      if (at == words.end()) return false;
      member = static_cast<E>(at - words.begin());
      return true;
    }
    return false;
  }
  void note(std::string_view key);

  const Json& json_;
  std::string problem_;
};

/// The record that the JSON holds. Unknown members are ignored. What is missing or has another type
/// keeps its initial value.
template <class T>
T read_record(const Json& json) {
  T record{};
  JsonReader reader(json);
  fields(reader, record);
  return record;
}

/// The same, but the input Error names the first required member that is missing or has another
/// type.
template <class T>
Result<T> check_record(const Json& json) {
  T record{};
  JsonReader reader(json);
  fields(reader, record);
  if (!reader.problem().empty()) return input_error(reader.problem());
  return record;
}

/// A list, a map or an optional value from JSON, as read_record() reads members.
template <class T>
T value_of(const Json& json) {
  T value{};
  JsonReader::read(json, value);
  return value;
}

}  // namespace kw
