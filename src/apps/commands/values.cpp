#include "commands/values.h"

#include <fmt/core.h>

#include <algorithm>

#include "binding/load.h"
#include "core/json.h"
#include "core/text.h"
#include "kernel/bind.h"

namespace kw::commands {

namespace {

constexpr double kLongestTimeout = 7 * 24 * 3600;

Status put(const std::string& option, const std::string& name, int64_t value,
           std::map<std::string, int64_t>* into) {
  const auto [old, fresh] = into->emplace(name, value);
  if (fresh || old->second == value) return Done{};
  return input_error(
      fmt::format("{} {} is given as {} and as {}", option, name, old->second, value));
}

Status integers(const Args& args, const std::string& option, std::map<std::string, int64_t>* into) {
  for (const std::string& text : args.all(option)) {
    const auto [name, value] = KW_TRY(parse_assignment(option, text));
    const auto number = parse_int(value);
    if (!number)
      return input_error(
          fmt::format("{} {}: '{}' is no whole number of 64 bits", option, name, value));
    KW_TRY(put(option, name, *number, into));
  }
  return Done{};
}

Status dims_object(const Args& args, std::map<std::string, int64_t>* into) {
  const std::string text = args.one("--dims");
  if (text.empty()) return Done{};
  Result<Json> json = Json::parse(text);
  if (!json) return std::move(json).error().context("--dims");
  if (!json->is_object())
    return input_error("--dims wants a JSON object such as {\"B\": 4096, \"D\": 1024}");
  for (const auto& [name, value] : json->members()) {
    if (!value.is_int()) {
      return input_error(
          fmt::format("--dims: \"{}\" is {}, not a whole number of 64 bits", name, value.dump()));
    }
    KW_TRY(put("--dim", name, value.as_int(), into));
  }
  return Done{};
}

}  // namespace

Result<std::pair<std::string, std::string>> parse_assignment(const std::string& option,
                                                             const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    return input_error(fmt::format("{} wants NAME=VALUE, not '{}'", option, text));
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<int64_t> integer_option(const Args& args, const std::string& option, int64_t fallback,
                               int64_t low, int64_t high) {
  const std::string text = args.one(option);
  if (text.empty()) return fallback;
  const auto value = parse_int(text);
  if (!value || *value < low || *value > high) {
    return input_error(
        fmt::format("{}: '{}' is no whole number from {} to {}", option, text, low, high));
  }
  return *value;
}

Result<double> number_option(const Args& args, const std::string& option, double fallback,
                             double low, double high) {
  const std::string text = args.one(option);
  if (text.empty()) return fallback;
  const auto value = parse_double(text);
  if (!value || !(*value >= low && *value <= high)) {
    return input_error(
        fmt::format("{}: '{}' is no number from {:g} to {:g}", option, text, low, high));
  }
  return *value;
}

Result<double> duration_option(const Args& args, const std::string& option, double fallback) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  constexpr Unit kUnits[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};
  const std::string text = args.one(option);
  if (text.empty()) return fallback;
  std::string_view number = text;
  double unit = 1;
  for (const Unit& row : kUnits) {
    if (!number.ends_with(row.name)) continue;
    number.remove_suffix(row.name.size());
    unit = row.seconds;
    break;
  }
  const auto value = parse_double(number);
  if (!value || !(*value >= 0 && *value * unit <= kLongestTimeout)) {
    return input_error(fmt::format(
        "{}: '{}' is no length of time such as 60s, 2m or 1h (at most a week)", option, text));
  }
  return *value * unit;
}

Result<double> timeout_option(const Args& args) {
  const std::string text = args.one("--timeout", "60");
  const auto value = parse_double(text);
  if (!value || !(*value > 0) || *value > kLongestTimeout) {
    return input_error(
        fmt::format("--timeout: '{}' is no number of seconds above 0 (at most a week)", text));
  }
  return *value;
}

Result<binding::BindingRequest> binding_options(const Args& args) {
  binding::BindingRequest request;
  KW_TRY(dims_object(args, &request.dims));
  KW_TRY(integers(args, "--dim", &request.dims));
  KW_TRY(integers(args, "--tune", &request.tunes));
  for (const std::string& text : args.all("--scalar")) {
    const auto [name, value] = KW_TRY(parse_assignment("--scalar", text));
    request.scalars[name] = value;
  }
  for (const std::string& name : args.all("--absent")) request.absent.insert(name);
  return request;
}

Result<binding::InputSources> input_options(const Args& args) {
  binding::InputSources sources;
  for (const std::string& text : args.all("--input")) {
    const auto [name, value] = KW_TRY(parse_assignment("--input", text));
    Result<binding::InputSource> source = binding::parse_input_source(value);
    if (!source) return std::move(source).error().context("--input " + name);
    if (!sources.emplace(name, std::move(source).value()).second) {
      return input_error("--input " + name + " is given twice");
    }
  }
  return sources;
}

std::vector<std::string> task_options(const Args& args) {
  std::vector<std::string> words;
  for (const char* option : {"--function", "--input", "--tune", "--target"}) {
    for (const std::string& value : args.all(option)) {
      words.emplace_back(option);
      words.push_back(value);
    }
  }
  return words;
}

Status check_tunes(const std::string& text, const std::map<std::string, int64_t>& tunes) {
  const Result<kernel::Module> module = binding::parse_module(text, "module");
  if (!module || tunes.empty()) return Done{};
  auto resolved = kernel::resolve_tunes(*module, tunes);
  if (!resolved) return std::move(resolved).error().context("--tune");
  return Done{};
}

Result<bool> switch_option(const Args& args, const std::string& option) {
  const std::string word = args.one(option, "on");
  if (word != "on" && word != "off")
    return input_error(fmt::format("{} wants on or off, not '{}'", option, word));
  return word == "on";
}

Status check_said_anew(const Args& args, std::span<const char* const> options) {
  std::vector<std::string> said;
  for (const auto& [name, values] : args.values) said.push_back(name);
  said.insert(said.end(), args.flags.begin(), args.flags.end());
  const std::vector<std::string> may(options.begin(), options.end());
  for (const std::string& name : said) {
    const bool ours = name == "--resume" || name == "--json";
    if (!ours && std::ranges::find(may, name) == may.end())
      return input_error(fmt::format(
          "{} cannot be said anew: what was begun goes on as it began; beside --resume: {}", name,
          join(may, ", ")));
  }
  return Done{};
}

}  // namespace kw::commands
