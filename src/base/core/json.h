// Reads and writes JSON values. An object keeps the order in which its keys were set, so the output
// is stable. Only json.cpp includes the JSON library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/result.h"

namespace kw {

class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default;  // null
  Json(std::nullptr_t) {}
  Json(bool value) : v_(value) {}
  Json(int value) : v_(int64_t{value}) {}
  Json(int64_t value) : v_(value) {}
  Json(uint32_t value) : v_(int64_t{value}) {}
  Json(uint64_t value) : v_(static_cast<int64_t>(value)) {}
  Json(double value) : v_(value) {}
  Json(const char* value) : v_(std::string(value)) {}
  Json(std::string value) : v_(std::move(value)) {}
  Json(std::string_view value) : v_(std::string(value)) {}
  Json(Array value) : v_(std::move(value)) {}
  Json(Object value) : v_(std::move(value)) {}

  static Json array() { return Json(Array{}); }
  static Json object() { return Json(Object{}); }

  bool is_null() const { return v_.index() == 0; }
  bool is_bool() const { return std::holds_alternative<bool>(v_); }
  bool is_int() const { return std::holds_alternative<int64_t>(v_); }
  bool is_number() const { return is_int() || std::holds_alternative<double>(v_); }
  bool is_string() const { return std::holds_alternative<std::string>(v_); }
  bool is_array() const { return std::holds_alternative<Array>(v_); }
  bool is_object() const { return std::holds_alternative<Object>(v_); }

  /// The value, or the fallback when the value has another type.
  bool as_bool(bool fallback = false) const;
  int64_t as_int(int64_t fallback = 0) const;
  double as_double(double fallback = 0) const;
  const std::string& as_string() const;  // "" when not a string
  const Array& items() const;            // empty when not an array
  const Object& members() const;         // empty when not an object

  /// A member of an object; null when it is absent or this is not an object.
  const Json& operator[](std::string_view key) const;
  bool contains(std::string_view key) const;
  /// Sets a member. A null value becomes an object first.
  Json& set(std::string_view key, Json value);
  /// Appends an item. A null value becomes an array first.
  Json& push(Json value);

  /// On one line, or indented by two. Bytes that are not UTF-8 are written as replacement
  /// characters. Infinities and NaN become null.
  std::string dump(bool indented = false) const;
  /// Numbers outside int64 become doubles. Nesting deeper than 200 is an Error.
  static Result<Json> parse(std::string_view text);

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Array, Object> v_;
};

}  // namespace kw
