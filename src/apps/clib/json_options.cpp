#include "clib/json_options.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/text.h"

namespace kw::clib {
namespace {

constexpr const char* kArguments = "arguments";

std::string option_name(const std::string& key) {
  std::string name = "--" + key;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

Result<std::string> word_of(const std::string& key, const Json& value) {
  if (value.is_string()) return value.as_string();
  if (value.is_int()) return fmt::format("{}", value.as_int());
  if (value.is_number()) return fmt::format("{}", value.as_double());
  return input_error("option '{}': {} is neither text nor a number", key,
                     value.dump().substr(0, 80));
}

bool takes_one(const options::Command& command, const std::string& name) {
  const options::Option* row = command.find(name);
  return row != nullptr && !row->repeats();
}

/// The values that an option gets, in order.
Result<std::vector<std::string>> values_of(const std::string& key, const Json& value) {
  std::vector<std::string> values;
  if (value.is_object()) {
    for (const auto& [name, item] : value.members())
      values.push_back(name + "=" + KW_TRY(word_of(key, item)));
  } else if (value.is_array()) {
    for (const Json& item : value.items()) values.push_back(KW_TRY(word_of(key, item)));
  } else {
    values.push_back(KW_TRY(word_of(key, value)));
  }
  std::erase(values, "");
  return values;
}

}  // namespace

Result<std::vector<std::string>> command_line_of(const options::Command& command,
                                                 const Json& options) {
  if (!options.is_object() && !options.is_null())
    return input_error("the options are not a JSON object");
  std::vector<std::string> words;
  for (const auto& [key, value] : options.members()) {
    if (key == kArguments || value.is_null() || (value.is_bool() && !value.as_bool())) continue;
    const std::string name = option_name(key);
    if (value.is_bool()) {
      words.push_back(name);
      continue;
    }
    std::vector<std::string> values = KW_TRY(values_of(key, value));
    if (values.size() > 1 && takes_one(command, name)) values = {join(values, ",")};
    for (const std::string& one : values) words.push_back(name + "=" + one);
  }
  const std::vector<std::string> arguments = KW_TRY(
      values_of(kArguments, options[kArguments].is_null() ? Json::array() : options[kArguments]));
  if (!arguments.empty()) words.emplace_back("--");
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

}  // namespace kw::clib
