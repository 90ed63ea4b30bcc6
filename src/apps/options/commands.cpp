// commands.txt is the table of commands. A section begins with the command's row, "@NAME POSITIONAL
// COLUMNS"; brackets mean that the positional is optional. Columns are `hidden`, `prints`, and the
// resource: cpu or gpu, with the steps that are quick as "quick:STEP,STEP". A line of option names
// stands for the help lines of their rows, and "--name: words" for a row with other words. Every
// other line is printed as it is. The lines that print the help are also the list of options, so
// neither can miss an option. Tables in C++ were the alternative. They need a string per line of
// prose, and an author who edits help does not see what is printed. The cost: a misspelt name fails
// when the program starts, not when it is compiled; every test of a command would find it.
#include "options/command_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "core/check.h"
#include "core/text.h"
#include "kCommandsText.inc"

namespace kw::options {
namespace {

constexpr size_t kAboutColumn = 23, kWidth = 100;

std::string help_lines(const Option& row, const std::string& about) {
  std::string line = fmt::format("  {}{}{}", row.name, *row.value == '\0' ? "" : " ", row.value);
  line.resize(std::max(kAboutColumn, line.size() + 2), ' ');
  std::string out;
  bool empty = true;
  const auto next_line = [&] {
    out += line + "\n";
    line.assign(kAboutColumn, ' ');
    empty = true;
  };
  for (const std::string& part : split(about, '\n')) {
    if (!empty) next_line();
    for (const std::string& word : split(part, ' ')) {
      if (!empty && line.size() + 1 + word.size() > kWidth) next_line();
      line += (empty ? "" : " ") + word;
      empty = false;
    }
  }
  next_line();
  return out;
}

class CommandTexts {
 public:
  CommandTexts() {
    for (const std::string_view line : split_lines(kCommandsText)) add(std::string(line));
    end_use();
    while (main.ends_with("\n\n")) main.pop_back();
    for (Command& command : all) {
      while (command.help.ends_with("\n\n")) command.help.pop_back();
      if (!command.hidden) command.summary = summary_of(command.name);
    }
  }

  std::vector<Command> all;
  std::string main;

 private:
  void add(const std::string& line) {
    const bool goes_on = use_.row != nullptr && line.starts_with("      ");
    if (goes_on) {
      use_.about += "\n" + line.substr(6);
      return;
    }
    end_use();
    if (line.starts_with("@")) {
      begin(line.substr(1));
    } else if (line.starts_with("  --")) {
      options(line.substr(2));
    } else {
      text() += line + "\n";
    }
  }

  std::string& text() { return all.empty() ? main : all.back().help; }

  void begin(const std::string& head) {
    if (head == "main") return;
    const std::vector<std::string> words = split(head, ' ');
    Command command;
    command.name = words[0];
    for (size_t i = 1; i < words.size(); ++i) column(command, words[i]);
    all.push_back(std::move(command));
  }

  static void column(Command& command, const std::string& word) {
    if (word == "hidden") {
      command.hidden = true;
    } else if (word == "prints") {
      command.prints = true;
    } else if (word == "cpu") {
      command.resource = ResourceClass::Cpu;
    } else if (word == "gpu") {
      command.resource = ResourceClass::Gpu;
    } else if (word.starts_with("quick:")) {
      command.quick_steps = split(word.substr(6), ',');
    } else {
      KW_CHECK(command.positional.empty(), "commands.txt has a column that is not known");
      command.positional_required = !word.starts_with("[");
      command.positional = command.positional_required ? word : word.substr(1, word.size() - 2);
    }
  }

  void options(const std::string& line) {
    if (const size_t colon = line.find(": "); line.find(' ') == colon + 1) {
      use_ = {row_of(line.substr(0, colon)), line.substr(colon + 2)};
      return;
    }
    for (const std::string& name : split(line, ' ')) {
      const Option* row = row_of(name);
      use_ = {row, row->about};
      end_use();
    }
  }

  const Option* row_of(const std::string& name) const {
    const Option* row = find_option(all.back().name, name);
    KW_CHECK(row != nullptr, "commands.txt names an option that has no row");
    return row;
  }

  void end_use() {
    if (use_.row == nullptr) return;
    text() += help_lines(*use_.row, use_.about);
    const std::string name = use_.row->name;
    std::replace(use_.about.begin(), use_.about.end(), '\n', ' ');
    if (name != "--json" && name != "--help") all.back().options.push_back(std::move(use_));
    use_ = {};
  }

  /// The words after the command and its positionals (in capitals) in the program's help.
  std::string summary_of(const std::string& name) const {
    const size_t at = main.find("\n  " + name + " ");
    KW_CHECK(at != std::string::npos, "the program's help lacks a command");
    std::string rest = main.substr(at + 3 + name.size());
    rest.resize(rest.find('\n'));
    size_t word = rest.find_first_not_of(' ');
    while (std::none_of(rest.begin() + static_cast<ptrdiff_t>(word),
                        rest.begin() + static_cast<ptrdiff_t>(rest.find(' ', word)),
                        [](unsigned char c) { return std::islower(c) != 0; }))
      word = rest.find_first_not_of(' ', rest.find(' ', word));
    return rest.substr(word);
  }

  Use use_{nullptr, ""};
};

const CommandTexts& command_texts() {
  static const CommandTexts all;
  return all;
}

}  // namespace

const Option* Command::find(const std::string& option) const {
  const auto use =
      std::ranges::find_if(options, [&](const Use& one) { return option == one.row->name; });
  return use == options.end() ? nullptr : use->row;
}

const std::vector<Command>& commands() { return command_texts().all; }

const Command* find_command(const std::string& name) {
  const auto found = std::ranges::find(commands(), name, &Command::name);
  return found == commands().end() ? nullptr : &*found;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (!command.hidden) names.push_back(command.name);
  }
  return names;
}

ResourceClass resource_of(const std::vector<std::string>& words) {
  const Command* command = words.empty() ? nullptr : find_command(words.front());
  if (command == nullptr) return ResourceClass::Quick;
  const auto end = std::ranges::find(words, "--");
  const bool pretended = std::find(words.begin(), end, "--device=vgpu") != end;
  const auto first = std::find_if(words.begin() + 1, words.end(),
                                  [](const std::string& word) { return !word.starts_with("--"); });
  if (first != words.end() && std::ranges::count(command->quick_steps, *first) > 0)
    return ResourceClass::Quick;
  return command->resource == ResourceClass::Gpu && pretended ? ResourceClass::Cpu
                                                              : command->resource;
}

std::string help_text(const std::string& section) {
  if (section == "main") return command_texts().main;
  const Command* command = find_command(section);
  return command == nullptr ? "" : command->help;
}

}  // namespace kw::options
