#include "commands/values.h"

#include "binding/load.h"
#include "core/contains.h"
#include "core/json.h"
#include "core/json_keys.h"
#include "core/text.h"
#include "kernel/bind.h"

namespace kw::commands {

namespace {

Status put(const std::string& option, const std::string& name, int64_t value,
           std::map<std::string, int64_t>* into) {
  const auto [old, fresh] = into->emplace(name, value);
  if (fresh || old->second == value) return Done{};
  return input_error("{} {} is given as {} and as {}", option, name, old->second, value);
}

Status integers(const Args& args, const std::string& option, std::map<std::string, int64_t>* into) {
  for (const std::string& text : args.all(option)) {
    const auto [name, value] = KW_TRY(parse_assignment(option, text));
    const auto number = parse_int(value);
    if (!number)
      return input_error("{} {}: '{}' is not a whole number of 64 bits", option, name, value);
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
    return input_error("--dims needs a JSON object such as {\"B\": 4096, \"D\": 1024}");
  if (const std::string twice = repeated_key(text); !twice.empty())
    return input_error("--dims gives {} twice", twice);
  for (const auto& [name, value] : json->members()) {
    if (!value.is_int()) {
      return input_error("--dims: \"{}\" is {}, not a whole number of 64 bits", name, value.dump());
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
    return input_error("{} needs NAME=VALUE, not '{}'", option, text);
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
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
  for (const char* option : {"--function", "--mode", "--input", "--tune", "--target"}) {
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

Status check_given_again(const Args& args) {
  std::vector<std::string> said;
  for (const auto& [name, values] : args.values) said.push_back(name);
  said.insert(said.end(), args.flags.begin(), args.flags.end());
  std::vector<std::string> may;
  for (const options::Use& use : args.command->options)
    if (use.row->replay.anew) may.emplace_back(use.row->name);
  for (const std::string& name : said) {
    if (name != "--resume" && !contains(may, name))
      return input_error(
          "{} cannot be changed when a run continues; with --resume you can give: {}", name,
          join(may, ", "));
  }
  return Done{};
}

}  // namespace kw::commands
