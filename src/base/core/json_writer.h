// Writes a record as JSON, from its list of members (fields.h). json_of() is also the JSON of
// lists, maps and optional values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/fields.h"
#include "core/json.h"

namespace kw {

/// Writes each member. Keys are in the order of the list.
class JsonWriter {
 public:
  JsonWriter() = default;
  /// Adds members to an object.
  explicit JsonWriter(Json object) : json_(std::move(object)) {}

  template <class T, class... Options>
  JsonWriter& operator()(std::string_view key, const T& member, const Options&... options) {
    const bool omitted = (omits(member, options) || ...), null = (nulls(member, options) || ...);
    if (!omitted) json_.set(key, null ? Json() : value_with(member, options...));
    return *this;
  }
  template <class Body>
  void group(std::string_view key, Body body) {
    JsonWriter inner;
    body(inner);
    json_.set(key, inner.take());
  }
  /// The object. The writer is empty afterwards.
  Json take() { return std::exchange(json_, Json::object()); }

  /// A type's own to_json() comes first: it is declared beside the type, so every source sees it.
  template <class T>
  static Json value(const T& value) {
    if constexpr (requires { to_json(value); }) {
      return to_json(value);
    } else if constexpr (HasFields<T, JsonWriter>) {
      return record(value);
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return static_cast<int64_t>(value);
    } else {
      return Json(value);
    }
  }
  template <class T>
  static Json record(const T& record) {
    JsonWriter writer;
    list_fields(writer, record);
    return writer.take();
  }
  template <class T>
  static Json value(const std::optional<T>& one) {
    return one ? value(*one) : Json();
  }
  template <class T>
  static Json value(const Computed<T>& one) {
    return value(one.value);
  }
  template <class T>
  static Json value(const std::vector<T>& items) {
    Json list = Json::array();
    for (const T& item : items) list.push(value(item));
    return list;
  }
  template <class K, class T>
  static Json value(const std::map<K, T>& members) {
    return object(members);
  }
  template <class T>
  static Json value(const std::vector<std::pair<std::string, T>>& members) {
    return object(members);
  }

 private:
  template <class Members>
  static Json object(const Members& members) {
    Json object = Json::object();
    for (const auto& [key, member] : members) {
      if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(key)>>)
        object.set(std::to_string(key), value(member));
      else
        object.set(key, value(member));
    }
    return object;
  }
  template <class T, class Option>
  static bool omits(const T& member, const Option& option) {
    if constexpr (std::is_same_v<Option, Zero>) return option == Zero::Omit && is_zero(member);
    if constexpr (std::is_same_v<Option, When>) return !option.holds;
    return false;
  }
  template <class T, class Option>
  static bool nulls(const T& member, const Option& option) {
    if constexpr (std::is_same_v<Option, Zero>) return option == Zero::Null && is_zero(member);
    if constexpr (std::is_same_v<Option, NegativeIsNull>) return member < 0;
    return false;
  }
  template <class T>
  static bool is_zero(const T& member) {
    if constexpr (std::is_arithmetic_v<T>)
      return !(member > T{});
    else if constexpr (is_computed<T>)
      return is_zero(member.value);
    else if constexpr (requires { member.has_value(); })
      return !member.has_value();
    else
      return member.empty();
  }
  template <class T, class... Options>
  static Json value_with(const T& member, const Options&... options) {
    if constexpr (std::is_enum_v<T>) {
      static_assert((is_words<Options> || ...), "an enum needs its words");
      return Words(first_words(options...))[static_cast<size_t>(member)];
    } else {
      return value(member);
    }
  }
  template <class First, class... Rest>
  static Words first_words(const First& first, const Rest&... rest) {
    if constexpr (is_words<First>)
      return first;
    else
      return first_words(rest...);
  }

  Json json_ = Json::object();
};

/// The record as a JSON object.
template <class T>
Json record_json(const T& record) {
  return JsonWriter::record(record);
}

/// An array with one object per item; list(writer, item) lists its members.
template <class Items, class List>
Json json_list(const Items& items, List list) {
  Json array = Json::array();
  for (const auto& item : items) {
    JsonWriter row;
    list(row, item);
    array.push(row.take());
  }
  return array;
}

/// Any value as JSON: an array, an object, null for what is not set.
template <class T>
Json json_of(const T& value) {
  return JsonWriter::value(value);
}

}  // namespace kw
