// A client's JSON arguments must become words of a command line, and the client is a model that may
// have read hostile text. So no shell is used. Options are written as --name=value, and positional
// words come after "--", so that a value can never become an option. Paths must be inside the
// roots, names are limited to plain characters, and text is written to a private file.
// Calling the commands' functions directly would avoid words, but they run in a process of their
// own, which takes words anyway. The cost: values are formatted here and parsed again there.
#include "mcp/tool_arguments.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/ascii.h"
#include "core/text.h"
#include "os/files.h"

namespace kw::mcp {
namespace {

constexpr uint64_t kMostTextFile = uint64_t{1} << 20;
constexpr uint64_t kMostDataFile = uint64_t{4} << 30;

bool is_plain(const std::string& id) {
  const auto plain = [](char c) {
    return is_name_char(c) || c == '.' || c == '-';
  };
  return !id.empty() && id.front() != '-' && id.front() != '.' &&
         std::all_of(id.begin(), id.end(), plain);
}

std::string number_text(const Json& value) {
  return value.is_int() ? fmt::format("{}", value.as_int()) : fmt::format("{}", value.as_double());
}

class Wording {
 public:
  Wording(const Json& arguments, const Roots& roots) : arguments_(arguments), roots_(roots) {}

  Status add(const ToolArgument& argument) {
    at_ = argument.name;
    if (argument.kind == Kind::Module || argument.kind == Kind::Reference) return source(argument);
    const Json& value = arguments_[argument.name];
    if (value.is_null() && *argument.fallback != '\0')
      options_.push_back(argument.option + ("=" + std::string(argument.fallback)));
    if (value.is_null()) return Done{};
    for (const std::string& word : KW_TRY(values(argument, value))) put(argument, word);
    return Done{};
  }

  Words take(const AgentTool& tool) {
    Words made;
    made.scratch = std::move(scratch_);
    made.words.emplace_back(tool.words.front());
    std::vector<std::string> fixed;
    for (const char* word : tool.words.subspan(1))
      (std::string_view(word).starts_with("--") ? made.words : fixed).emplace_back(word);
    made.words.insert(made.words.end(), options_.begin(), options_.end());
    positionals_.insert(positionals_.begin(), fixed.begin(), fixed.end());
    if (!positionals_.empty()) made.words.emplace_back("--");
    made.words.insert(made.words.end(), positionals_.begin(), positionals_.end());
    return made;
  }

 private:
  Error refused(const std::string& why) const { return input_error(at_ + ": " + why); }

  Result<std::string> with_name(Result<std::string> result) const {
    if (result) return result;
    return std::move(result).error().context(at_);
  }

  Result<std::vector<std::string>> values(const ToolArgument& argument, const Json& value) {
    using List = std::vector<std::string>;
    switch (argument.kind) {
      case Kind::Flag:
        return value.as_bool() ? List{argument.option} : List{};
      case Kind::Whole:
      case Kind::Number:
      case Kind::Seconds:
        return List{number_text(value)};
      case Kind::Dims:
        return List{value.dump()};
      case Kind::Pairs:
      case Kind::Inputs:
        return assignments(argument.kind, value);
      case Kind::Choices:
      case Kind::Texts:
        return list(argument.kind, value);
      case Kind::Waiting:
        return List{};
      default:
        return List{KW_TRY(word(argument.kind, value.as_string()))};
    }
  }

  Result<std::string> word(Kind kind, const std::string& text) {
    switch (kind) {
      case Kind::Id:
        if (!is_plain(text)) return refused("letters, digits, '_', '.' and '-' only");
        return text;
      case Kind::Run:
        if (is_plain(text)) return text;
        return folder(text);
      case Kind::File:
        return with_name(roots_.file(text, kMostTextFile << 8));
      case Kind::Path:
        return with_name(roots_.existing(text));
      case Kind::Folder:
        return folder(text);
      case Kind::Place:
        return with_name(roots_.place(text));
      default:
        return text;
    }
  }

  Result<std::string> folder(const std::string& path) {
    const std::string resolved = KW_TRY(with_name(roots_.existing(path)));
    if (!os::is_directory(resolved)) return refused(path + ": not a folder");
    return resolved;
  }

  Result<std::vector<std::string>> list(Kind kind, const Json& value) {
    std::vector<std::string> all;
    for (const Json& item : value.items()) all.push_back(item.as_string());
    if (kind == Kind::Choices) return std::vector<std::string>{join(all, ",")};
    return all;
  }

  Result<std::vector<std::string>> assignments(Kind kind, const Json& value) {
    std::vector<std::string> all;
    for (const auto& [name, item] : value.members()) {
      if (!is_plain(name)) return refused(fmt::format("'{}' is not a name", name.substr(0, 80)));
      const std::string text =
          kind == Kind::Pairs ? number_text(item) : KW_TRY(input_source(item.as_string()));
      all.push_back(name + "=" + text);
    }
    return all;
  }

  /// The same rule as in the command: a name that ends in .npy or contains a slash is a file.
  Result<std::string> input_source(const std::string& text) {
    if (!text.ends_with(".npy") && text.find('/') == std::string::npos) return text;
    return with_name(roots_.file(text, kMostDataFile));
  }

  Status source(const ToolArgument& argument) {
    const Json& path = arguments_[argument.name];
    const Json& text = arguments_[at_ + "_text"];
    if (!path.is_null() && !text.is_null())
      return refused(fmt::format("give {} or {}_text, not both", at_, at_));
    if (path.is_null() && text.is_null())
      return argument.required ? Status(refused(fmt::format("{} or {}_text is missing", at_, at_)))
                               : Status(Done{});
    const bool module = argument.kind == Kind::Module;
    const std::string word = text.is_null() ? KW_TRY(module ? module_file(path.as_string())
                                                            : reference_path(path.as_string()))
                                            : KW_TRY(inline_file(text.as_string(), module));
    put(argument, word);
    return Done{};
  }

  void put(const ToolArgument& argument, const std::string& word) {
    if (*argument.option == '\0')
      positionals_.push_back(word);
    else
      options_.push_back(argument.kind == Kind::Flag ? word : argument.option + ("=" + word));
  }

  Result<std::string> inline_file(const std::string& text, bool module) {
    if (!scratch_) scratch_ = KW_TRY(Scratch::make());
    return scratch_->write(at_ + (module ? ".cu" : ".py"), text);
  }

  Result<std::string> module_file(const std::string& path) {
    return with_name(roots_.file(path, kMostTextFile));
  }

  /// A file, FILE.py:NAME for one function of it, or a task's folder.
  Result<std::string> reference_path(const std::string& path) {
    const Result<std::string> found = roots_.existing(path);
    if (found && os::is_directory(*found)) return found;
    const size_t end = path.rfind(".py:");
    if (found || end == std::string::npos || !is_plain(path.substr(end + 4)))
      return with_name(roots_.file(path, kMostTextFile));
    return KW_TRY(with_name(roots_.file(path.substr(0, end + 3), kMostTextFile))) +
           path.substr(end + 3);
  }

  const Json& arguments_;
  const Roots& roots_;
  std::string at_;
  std::vector<std::string> options_, positionals_;
  std::shared_ptr<Scratch> scratch_;
};

}  // namespace

Result<Words> command_line_of(const AgentTool& tool, const Json& arguments, const Roots& roots) {
  Wording wording(arguments, roots);
  for (const ToolArgument& argument : tool.arguments) KW_TRY(wording.add(argument));
  return wording.take(tool);
}

}  // namespace kw::mcp
