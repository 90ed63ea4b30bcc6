// Arguments come from language models, which make many small mistakes. So they are checked against
// the same JSON Schema that the client got. All problems are reported at once (at most 12), with
// the path and a suggestion. A full validator library would be a large dependency for a few
// keywords. The cost: only the keywords that our own schemas use are known; schema.h lists them. A
// schema with another keyword would not be enforced.
#include "mcp/schema.h"

#include <fmt/core.h>

#include "core/text.h"

namespace kw::mcp {
namespace {

constexpr size_t kMostProblems = 12;

struct TypeRow {
  const char* name;
  const char* words;
  bool (*fits)(const Json& value);
};
constexpr TypeRow kTypes[] = {
    {"object", "an object", [](const Json& v) { return v.is_object(); }},
    {"array", "an array", [](const Json& v) { return v.is_array(); }},
    {"string", "text", [](const Json& v) { return v.is_string(); }},
    {"integer", "a whole number", [](const Json& v) { return v.is_int(); }},
    {"number", "a number", [](const Json& v) { return v.is_number(); }},
    {"boolean", "true or false", [](const Json& v) { return v.is_bool(); }},
    {"null", "null", [](const Json& v) { return v.is_null(); }},
};

const TypeRow* find_type(const std::string& name) {
  for (const TypeRow& row : kTypes) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

class Checker {
 public:
  std::vector<std::string> problems;

  void check(const Json& schema, const Json& value, const std::string& at) {
    if (problems.size() >= kMostProblems || !typed(schema["type"], value, at)) return;
    listed(schema["enum"], value, at);
    if (value.is_object()) object(schema, value, at);
    if (value.is_array()) array(schema, value, at);
    if (value.is_number()) number(schema, value, at);
    if (value.is_string()) text(schema, value, at);
    any(schema["anyOf"], value, at);
  }

 private:
  void say(const std::string& at, const std::string& what) {
    problems.push_back((at.empty() ? "arguments" : at) + ": " + what);
  }

  bool typed(const Json& type, const Json& value, const std::string& at) {
    if (type.is_null()) return true;
    const Json::Array types = type.is_array() ? type.items() : Json::Array{type};
    std::vector<std::string> words;
    for (const Json& one : types) {
      const TypeRow* row = find_type(one.as_string());
      if (row != nullptr && row->fits(value)) return true;
      if (row != nullptr) words.emplace_back(row->words);
    }
    say(at, "must be " + join(words, " or "));
    return false;
  }

  void listed(const Json& allowed, const Json& value, const std::string& at) {
    if (!allowed.is_array()) return;
    std::vector<std::string> names;
    for (const Json& one : allowed.items()) {
      if (one.dump() == value.dump()) return;
      names.push_back(one.is_string() ? one.as_string() : one.dump());
    }
    say(at, fmt::format("must be one of {}{}", join(names, ", "),
                        value.is_string() ? did_you_mean(value.as_string(), names) : ""));
  }

  void object(const Json& schema, const Json& value, const std::string& at) {
    const Json& properties = schema["properties"];
    const Json& more = schema["additionalProperties"];
    for (const Json& name : schema["required"].items()) {
      if (!value.contains(name.as_string()))
        say(at, fmt::format("'{}' is missing", name.as_string()));
    }
    for (const auto& [name, member] : value.members()) {
      const std::string below = at.empty() ? name : at + "." + name;
      if (properties.contains(name)) {
        check(properties[name], member, below);
      } else if (more.is_object()) {
        check(more, member, below);
      } else if (more.is_bool() && !more.as_bool()) {
        unknown(properties, name, at);
      }
    }
    bounds(schema, "minProperties", "maxProperties", value.members().size(), "members", at);
  }

  void unknown(const Json& properties, const std::string& name, const std::string& at) {
    std::vector<std::string> names;
    for (const auto& [known, unused] : properties.members()) names.push_back(known);
    say(at, fmt::format("there is no '{}'{}", name.substr(0, 80), did_you_mean(name, names)));
  }

  void array(const Json& schema, const Json& value, const std::string& at) {
    bounds(schema, "minItems", "maxItems", value.items().size(), "items", at);
    if (!schema["items"].is_object()) return;
    size_t index = 0;
    for (const Json& item : value.items())
      check(schema["items"], item, fmt::format("{}[{}]", at, index++));
  }

  void number(const Json& schema, const Json& value, const std::string& at) {
    const Json &low = schema["minimum"], &high = schema["maximum"];
    if (low.is_number() && !(value.as_double() >= low.as_double()))
      say(at, "must be at least " + low.dump());
    if (high.is_number() && !(value.as_double() <= high.as_double()))
      say(at, "must be at most " + high.dump());
  }

  void text(const Json& schema, const Json& value, const std::string& at) {
    bounds(schema, "minLength", "maxLength", value.as_string().size(), "bytes", at);
  }

  void bounds(const Json& schema, const char* least, const char* most, size_t size,
              const char* what, const std::string& at) {
    const auto count = static_cast<int64_t>(size);
    if (schema[least].is_int() && count < schema[least].as_int())
      say(at, fmt::format("must have at least {} {}", schema[least].as_int(), what));
    if (schema[most].is_int() && count > schema[most].as_int())
      say(at, fmt::format("has {} {}, at most {} are allowed", size, what, schema[most].as_int()));
  }

  void any(const Json& choices, const Json& value, const std::string& at) {
    if (!choices.is_array()) return;
    std::vector<std::string> reasons;
    for (const Json& choice : choices.items()) {
      Checker attempt;
      attempt.check(choice, value, at);
      if (attempt.problems.empty()) return;
      reasons.push_back(attempt.problems.front());
    }
    say(at, "none of these holds: " + join(reasons, "; "));
  }
};

}  // namespace

std::vector<std::string> schema_problems(const Json& schema, const Json& value) {
  Checker checker;
  checker.check(schema, value, "");
  return std::move(checker.problems);
}

}  // namespace kw::mcp
