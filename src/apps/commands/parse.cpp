// Words become Args. The rows of the command decide what is an option and what is its value.
#include <fmt/core.h>

#include <algorithm>

#include "commands/command.h"
#include "core/text.h"

namespace kw::commands {

namespace {

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names = {"--json", "--help"};
  for (const OptionRow& row : command.options) names.emplace_back(row.name);
  return names;
}

Error usage_error(const Command& command, const std::string& what) {
  return input_error(fmt::format("{}; see 'kernelwright help {}'", what, command.name));
}

bool looks_like_option(const std::string& word) {
  return word.size() >= 2 && word[0] == '-' && !parse_double(word);
}

const OptionRow* find_option(const Command& command, const std::string& name) {
  const auto row =
      std::ranges::find_if(command.options, [&](const OptionRow& one) { return name == one.name; });
  return row == command.options.end() ? nullptr : &*row;
}

class Reader {
 public:
  Reader(const Command& command, const std::vector<std::string>& words)
      : command_(command), words_(words) {}

  Result<Args> run() {
    while (at_ < words_.size() && words_[at_] != "--") {
      const std::string& word = words_[at_++];
      if (looks_like_option(word))
        KW_TRY(option(word));
      else
        args_.positionals.push_back(word);
    }
    for (++at_; at_ < words_.size(); ++at_) args_.positionals.push_back(words_[at_]);
    return std::move(args_);
  }

 private:
  Status option(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const bool has_value = equals != std::string::npos;
    const OptionRow* row = find_option(command_, name);
    if (row == nullptr && name != "--json" && name != "--help") {
      return usage_error(command_, fmt::format("{} has no option {}{}", command_.name, name,
                                               did_you_mean(name, option_names(command_))));
    }
    if (row == nullptr || row->takes == Takes::Nothing) {
      if (has_value) return usage_error(command_, fmt::format("{} takes no value", name));
      if (row != nullptr) args_.flags.insert(name);
      return Done{};
    }
    const std::string value = has_value ? word.substr(equals + 1) : next();
    if (value.empty()) return usage_error(command_, fmt::format("{} wants a value", name));
    std::vector<std::string>& given = args_.values[name];
    if (row->takes == Takes::One && !given.empty()) {
      return usage_error(command_, fmt::format("{} is given twice, as '{}' and as '{}'", name,
                                               given.front(), value));
    }
    given.push_back(value);
    return Done{};
  }

  // The word behind an option, unless it is plainly not meant as its value.
  std::string next() {
    if (at_ == words_.size() || words_[at_] == "--") return "";
    const std::string& word = words_[at_];
    const std::vector<std::string> known = option_names(command_);
    const std::string name = word.substr(0, word.find('='));
    if (std::find(known.begin(), known.end(), name) != known.end()) return "";
    ++at_;
    return word;
  }

  const Command& command_;
  const std::vector<std::string>& words_;
  size_t at_ = 0;
  Args args_;
};

Status check_positionals(const Command& command, const std::vector<std::string>& given) {
  if (given.empty() && command.positional_required) {
    const std::string_view wanted = command.positional;
    return usage_error(command, fmt::format("{} needs {}{}", command.name,
                                            wanted.ends_with("S...") ? "two " : "a ",
                                            wanted.substr(0, wanted.find("..."))));
  }
  const std::string_view named = command.positional;
  if (named.ends_with("...")) return Done{};
  const size_t most = named.empty() ? 0 : 1;
  if (given.size() > most) {
    return usage_error(command, fmt::format("'{}' was not expected", given[most]));
  }
  return Done{};
}

/// --backward is a function's name: NAME.backward, behind a colon or as an option.
void name_backward(Args& args) {
  constexpr const char* kSuffix = "backward";
  std::vector<std::string>& function = args.values["--function"];
  const auto reference = args.values.find("--reference");
  if (function.empty() && reference != args.values.end()) {
    std::string& named = reference->second.front();
    const size_t colon = named.rfind(':');
    if (colon != std::string::npos && named.find('/', colon) == std::string::npos) {
      named += fmt::format(".{}", kSuffix);
      args.values.erase("--function");
      return;
    }
  }
  if (function.empty())
    function.emplace_back(kSuffix);
  else
    function.front() += fmt::format(".{}", kSuffix);
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
  Args args = KW_TRY(Reader(command, words).run());
  KW_TRY(check_positionals(command, args.positionals));
  // eval has no function to name: it asks for the gradients of a whole suite.
  const bool names_functions = find_option(command, "--function") != nullptr;
  if (names_functions && args.flags.erase("--backward") > 0) name_backward(args);
  return args;
}

}  // namespace kw::commands
