// Sorts the words of a command line into options and positionals, and checks every value against
// the row of its option. So commands never see a value of the wrong type, and all messages have the
// same form, with a suggestion for a misspelt name. Unknown names are reported before values out of
// range. A word that looks like an option but is a number, such as -1, is a value. getopt_long
// would do the sorting, but not types, ranges, suggestions or JSON for agents from one table. The
// cost: about 200 lines. Options have no short forms (except -h), and a single-valued option given
// twice is an error.
#include <fmt/core.h>

#include "core/check.h"
#include "core/contains.h"
#include "core/text.h"
#include "options/args.h"

namespace kw::options {
namespace {

constexpr double kLongestTime = 7 * 24 * 3600;

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names = {"--json", "--help"};
  for (const Use& use : command.options) names.emplace_back(use.row->name);
  return names;
}

Error usage_error(const Command& command, const std::string& what) {
  return input_error("{}; see 'kernelwright help {}'", what, command.name);
}

bool looks_like_option(const std::string& word) {
  return word.size() >= 2 && word[0] == '-' && !parse_double(word);
}

/// Seconds in "90", "90s", "1.5m", "2h" or "500ms".
std::optional<double> duration_of(std::string_view text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  constexpr Unit kUnits[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};
  double unit = 1;
  for (const Unit& row : kUnits) {
    if (!text.ends_with(row.name)) continue;
    text.remove_suffix(row.name.size());
    unit = row.seconds;
    break;
  }
  const auto value = parse_double(text);
  return value ? std::optional(*value * unit) : std::nullopt;
}

class Reader {
 public:
  Reader(const Command& command, const std::vector<std::string>& words)
      : command_(command), words_(words) {
    args_.command = &command;
  }

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
    const Option* row = command_.find(name);
    if (row == nullptr && name != "--json" && name != "--help") {
      return usage_error(command_, fmt::format("{} has no option {}{}", command_.name, name,
                                               did_you_mean(name, option_names(command_))));
    }
    if (row == nullptr || row->is_flag()) {
      if (has_value) return usage_error(command_, fmt::format("{} takes no value", name));
      if (row != nullptr) args_.flags.insert(name);
      return Done{};
    }
    const std::string value = has_value ? word.substr(equals + 1) : next();
    if (value.empty()) return usage_error(command_, fmt::format("{} needs a value", name));
    std::vector<std::string>& given = args_.values[name];
    if (!row->repeats() && !given.empty()) {
      return usage_error(command_, fmt::format("{} is given twice, as '{}' and as '{}'", name,
                                               given.front(), value));
    }
    given.push_back(value);
    return Done{};
  }

  // The word after an option, unless it is itself an option.
  std::string next() {
    if (at_ == words_.size() || words_[at_] == "--") return "";
    const std::string& word = words_[at_];
    const std::vector<std::string> known = option_names(command_);
    const std::string name = word.substr(0, word.find('='));
    if (contains(known, name)) return "";
    ++at_;
    return word;
  }

  const Command& command_;
  const std::vector<std::string>& words_;
  size_t at_ = 0;
  Args args_;
};

Status check_positionals(const Command& command, const std::vector<std::string>& given) {
  const std::string_view named = command.positional;
  if (given.empty() && command.positional_required) {
    return usage_error(
        command, fmt::format("{} needs {}{}", command.name, named.ends_with("S...") ? "two " : "a ",
                             named.substr(0, named.find("..."))));
  }
  if (named.ends_with("...")) return Done{};
  const size_t most = named.empty() ? 0 : 1;
  if (given.size() > most) {
    return usage_error(command, fmt::format("'{}' was not expected", given[most]));
  }
  return Done{};
}

/// Called after all words are read: unknown names are reported before values out of range.
Status check_values(const Args& args) {
  for (const Use& use : args.command->options) {
    for (const std::string& value : args.all(use.row->name)) KW_TRY(check_value(*use.row, value));
  }
  return Done{};
}

/// Turns --backward into a function's name: NAME.backward, after a colon or as an option.
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

Status check_value(const Option& option, const std::string& text) {
  const auto refused = [&](const std::string& what) {
    return input_error("{}: '{}' is not a {}", option.name, text, what);
  };
  const Type& type = option.type;
  switch (type.kind) {
    case Kind::Whole: {
      const auto value = parse_int(text);
      if (value && *value >= type.low && *value <= type.high) return Done{};
      return refused(fmt::format("whole number from {} to {}", type.low, type.high));
    }
    case Kind::Number: {
      const auto low = static_cast<double>(type.low), high = static_cast<double>(type.high);
      const auto value = parse_double(text);
      if (value && *value >= low && *value <= high) return Done{};
      return refused(fmt::format("number from {:g} to {:g}", low, high));
    }
    case Kind::Duration: {
      const auto value = duration_of(text);
      if (value && *value >= 0 && *value <= kLongestTime) return Done{};
      return refused("length of time such as 60s, 2m or 1h (at most a week)");
    }
    case Kind::Seconds: {
      const auto value = parse_double(text);
      const double least = static_cast<double>(type.low) / 1000;
      if (value && *value >= least && *value <= kLongestTime) return Done{};
      return refused(fmt::format("number of seconds from {:g} to a week", least));
    }
    case Kind::Switch:
      if (text == "on" || text == "off") return Done{};
      return input_error("{} needs on or off, not '{}'", option.name, text);
    default:
      return Done{};
  }
}

double number_of(const Option& option, const std::string& text) {
  const auto value = option.type.kind == Kind::Duration ? duration_of(text) : parse_double(text);
  KW_CHECK(value.has_value(), "an option's value was not checked");
  return *value;
}

const std::vector<std::string>& Args::all(const std::string& option) const {
  static const std::vector<std::string> kNone;
  const auto it = values.find(option);
  return it == values.end() ? kNone : it->second;
}

std::string Args::one(const std::string& option, const std::string& otherwise) const {
  if (given(option)) return all(option).front();
  const Option* row = command == nullptr ? nullptr : command->find(option);
  return !otherwise.empty() || row == nullptr ? otherwise : row->fallback;
}

int64_t Args::integer(const std::string& option, int64_t otherwise) const {
  const std::string text = one(option);
  return text.empty() ? otherwise : parse_int(text).value();
}

double Args::number(const std::string& option, double otherwise) const {
  const std::string text = one(option);
  return text.empty() ? otherwise : number_of(*command->find(option), text);
}

Result<Args> parse_args(const Command& command, const std::vector<std::string>& words) {
  Args args = KW_TRY(Reader(command, words).run());
  KW_TRY(check_positionals(command, args.positionals));
  KW_TRY(check_values(args));
  // eval names no function: it takes the gradients of a whole suite.
  const bool names_functions = command.find("--function") != nullptr;
  if (names_functions && args.flags.erase("--backward") > 0) name_backward(args);
  return args;
}

}  // namespace kw::options
