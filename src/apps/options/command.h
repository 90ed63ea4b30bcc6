// The commands, as commands.txt lists them: names, positionals, options, help.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "options/option.h"

namespace kw::options {

/// An option as one command takes it.
struct Use {
  const Option* row;
  std::string about;
};

struct Command {
  std::string name;
  std::string positional;  // what must be named: "MODULE", "TASK..." (several); "" = none
  bool positional_required = false;
  bool hidden = false;
  std::string summary;
  std::vector<Use> options;       // besides --json and --help, in the order of the help text
  std::vector<std::string> anew;  // options that may be given with --resume
  std::string help;

  /// nullptr when the command does not take the option.
  const Option* find(const std::string& option) const;
};

/// All commands, in the order of the help text.
const std::vector<Command>& commands();
const Command* find_command(const std::string& name);
/// The commands that are not hidden.
std::vector<std::string> command_names();

/// The help text of a command, or of the program for "main". "" when there is none.
std::string help_text(const std::string& section);
/// The same as JSON: name, summary and, for each option, type, range, choices, default, about.
Json to_json(const Command& command);

}  // namespace kw::options
