// The library's types would reach every header that mentions JSON, and its header is slow to
// compile. So values are ours, and only this source sees the library, which parses and prints. Each
// text is copied once from or to the library's values. Alternatives: the library's types everywhere
// (slow builds, exceptions in all modules), or a parser of our own (more code to trust). The cost
// is the copy; members are found by a linear search, which suits objects of a few dozen members.
#include "core/json.h"

#include <nlohmann/json.hpp>
#include <set>

#include "core/json_keys.h"

namespace kw {

using Library = nlohmann::ordered_json;
static constexpr int kMaxDepth = 200;

bool Json::as_bool(bool fallback) const {
  const bool* value = std::get_if<bool>(&v_);
  return value ? *value : fallback;
}

int64_t Json::as_int(int64_t fallback) const {
  const int64_t* value = std::get_if<int64_t>(&v_);
  return value ? *value : fallback;
}

double Json::as_double(double fallback) const {
  if (const int64_t* whole = std::get_if<int64_t>(&v_)) return static_cast<double>(*whole);
  const double* value = std::get_if<double>(&v_);
  return value ? *value : fallback;
}

const std::string& Json::as_string() const {
  static const std::string kEmpty;
  const std::string* value = std::get_if<std::string>(&v_);
  return value ? *value : kEmpty;
}

const Json::Array& Json::items() const {
  static const Array kEmpty;
  const Array* value = std::get_if<Array>(&v_);
  return value ? *value : kEmpty;
}

const Json::Object& Json::members() const {
  static const Object kEmpty;
  const Object* value = std::get_if<Object>(&v_);
  return value ? *value : kEmpty;
}

const Json& Json::operator[](std::string_view key) const {
  static const Json kNull;
  for (const auto& [name, value] : members()) {
    if (name == key) return value;
  }
  return kNull;
}

bool Json::contains(std::string_view key) const {
  for (const auto& [name, value] : members()) {
    if (name == key) return true;
  }
  return false;
}

Json& Json::set(std::string_view key, Json value) {
  if (!is_object()) v_ = Object{};
  for (auto& [name, old] : std::get<Object>(v_)) {
    if (name == key) {
      old = std::move(value);
      return *this;
    }
  }
  std::get<Object>(v_).emplace_back(std::string(key), std::move(value));
  return *this;
}

Json& Json::push(Json value) {
  if (!is_array()) v_ = Array{};
  std::get<Array>(v_).push_back(std::move(value));
  return *this;
}

static Library to_library(const Json& json) {
  if (json.is_bool()) return json.as_bool();
  if (json.is_int()) return json.as_int();
  if (json.is_number()) return json.as_double();
  if (json.is_string()) return json.as_string();
  if (json.is_array()) {
    Library out = Library::array();
    for (const Json& item : json.items()) out.push_back(to_library(item));
    return out;
  }
  if (json.is_object()) {
    Library out = Library::object();
    for (const auto& [key, value] : json.members()) out[key] = to_library(value);
    return out;
  }
  return nullptr;
}

static Json from_library(const Library& in) {
  switch (in.type()) {
    case Library::value_t::boolean:
      return in.get<bool>();
    case Library::value_t::number_integer:
      return in.get<int64_t>();
    case Library::value_t::number_unsigned: {
      const auto value = in.get<uint64_t>();
      if (value > static_cast<uint64_t>(INT64_MAX)) return static_cast<double>(value);
      return static_cast<int64_t>(value);
    }
    case Library::value_t::number_float:
      return in.get<double>();
    case Library::value_t::string:
      return in.get<std::string>();
    case Library::value_t::array: {
      Json out = Json::array();
      for (const auto& item : in) out.push(from_library(item));
      return out;
    }
    case Library::value_t::object: {
      Json out = Json::object();
      for (const auto& [key, value] : in.items()) out.set(key, from_library(value));
      return out;
    }
    default:
      return nullptr;
  }
}

std::string Json::dump(bool indented) const {
  return to_library(*this).dump(indented ? 2 : -1, ' ', false, Library::error_handler_t::replace);
}

// The library's message without its "[json.exception.…]" prefix, which means nothing to a user.
static std::string reason_of(const Library::exception& e) {
  std::string text = e.what();
  if (text.starts_with('[')) text.erase(0, std::min(text.find("] ") + 2, text.size()));
  constexpr std::string_view kParseError = "parse error";
  return text.starts_with(kParseError) ? text.substr(kParseError.size()) : ": " + text;
}

Result<Json> Json::parse(std::string_view text) {
  bool too_deep = false;
  const Library::parser_callback_t guard = [&](int depth, Library::parse_event_t, Library&) {
    too_deep = too_deep || depth > kMaxDepth;
    return !too_deep;
  };
  try {
    const Library parsed = Library::parse(text, guard);
    if (too_deep) return input_error("JSON nested deeper than 200 levels");
    return from_library(parsed);
  } catch (const Library::exception& e) {
    return input_error("not valid JSON" + reason_of(e));
  }
}

std::string repeated_key(std::string_view text) {
  std::string twice;
  std::vector<std::set<std::string>> open;  // keys of the objects around the parser's place
  const Library::parser_callback_t look = [&](int, Library::parse_event_t event, Library& parsed) {
    if (event == Library::parse_event_t::object_start) open.emplace_back();
    if (event == Library::parse_event_t::object_end) open.pop_back();
    if (event == Library::parse_event_t::key &&
        !open.back().insert(parsed.get<std::string>()).second)
      twice = parsed.get<std::string>();
    return true;
  };
  [[maybe_unused]] const Library parsed = Library::parse(text, look, false);
  return twice;
}

}  // namespace kw
