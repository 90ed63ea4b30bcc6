// The only file that knows CLI11. Each option row becomes one CLI11 option; its complaints become
// input Errors.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text.h"
#include "cli/command.h"

namespace kw::cli {

namespace {

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names = {"--json", "--help"};
  for (const OptionRow& row : command.options) names.emplace_back(row.name);
  return names;
}

Error usage_error(const Command& command, const std::string& what) {
  return input_error(fmt::format("{}; see 'kernelwright help {}'", what, command.name));
}

// CLI11 takes the word behind an unknown option for a positional and then complains about that; so
// options are looked at first.
Status check_names(const Command& command, const std::vector<std::string>& words) {
  const std::vector<std::string> known = option_names(command);
  for (const std::string& word : words) {
    if (word == "--") break;
    if (word.size() < 2 || word[0] != '-' || parse_double(word)) continue;
    const std::string name = word.substr(0, word.find('='));
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return usage_error(command, fmt::format("{} has no option {}{}", command.name, name,
                                            did_you_mean(name, known)));
  }
  return Done{};
}

Status check_positionals(const Command& command, const std::vector<std::string>& given) {
  if (given.empty() && command.positional_required) {
    return usage_error(command, fmt::format("{} needs a {}", command.name, command.positional));
  }
  const std::string_view named = command.positional;
  if (named.ends_with("...")) return Done{};
  const size_t most = named.empty() ? 0 : 1;
  if (given.size() > most) {
    return usage_error(command, fmt::format("'{}' was not expected", given[most]));
  }
  return Done{};
}

}  // namespace

const std::vector<std::string>& Args::all(const std::string& option) const {
  static const std::vector<std::string> kNone;
  const auto it = values.find(option);
  return it == values.end() ? kNone : it->second;
}

std::string Args::one(const std::string& option, const std::string& fallback) const {
  const std::vector<std::string>& given = all(option);
  return given.empty() ? fallback : given.front();
}

Result<Args> parse_args(const Command& command, const std::vector<std::string>& words) {
  KW_TRY(check_names(command, words));
  CLI::App app;
  app.set_help_flag();
  bool json = false;
  app.add_flag("--json", json);
  std::map<std::string, bool> flags;
  std::map<std::string, std::vector<std::string>> values;
  for (const OptionRow& row : command.options) {
    if (row.takes == Takes::Nothing) {
      app.add_flag(row.name, flags[row.name]);
      continue;
    }
    CLI::Option* option =
        app.add_option(row.name, values[row.name])->allow_extra_args(false)->expected(1);
    if (row.takes == Takes::Many) option->expected(1, 1 << 20)->allow_extra_args(false);
  }
  Args args;
  app.add_option("positional", args.positionals);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    return usage_error(command, error.what());
  }
  for (const auto& [name, set] : flags) {
    if (set) args.flags.insert(name);
  }
  for (auto& [name, given] : values) {
    if (!given.empty()) args.values[name] = std::move(given);
  }
  KW_TRY(check_positionals(command, args.positionals));
  return args;
}

}  // namespace kw::cli
