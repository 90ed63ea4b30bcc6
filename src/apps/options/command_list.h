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

/// The resource that a call of a command needs.
enum class ResourceClass : uint8_t {
  Quick,  // milliseconds
  Cpu,    // the host's cores
  Gpu,    // the GPU, unless its device is the virtual one
};

struct Command {
  std::string name;
  std::string positional;  // what must be named: "MODULE", "TASK..." (several); "" = none
  bool positional_required = false;
  bool hidden = false;
  bool prints = false;  // its text is the result: of no use to callers of the library
  ResourceClass resource = ResourceClass::Quick;
  std::vector<std::string> quick_steps;  // first words that make a call Quick
  std::string summary;
  std::vector<Use> options;  // besides --json and --help, in the order of the help text
  std::string help;

  /// nullptr when the command does not take the option.
  const Option* find(const std::string& option) const;
};

/// All commands, in the order of the help text.
const std::vector<Command>& commands();
const Command* find_command(const std::string& name);
/// The commands that are not hidden.
std::vector<std::string> command_names();

/// What a call with these words needs: the command's name, options as --name=value, positionals.
/// Work for the virtual GPU needs only the CPU.
ResourceClass resource_of(const std::vector<std::string>& words);

/// The help text of a command, or of the program for "main". "" when there is none.
std::string help_text(const std::string& section);
/// The same as JSON: name, summary, resource and, for each option, type, range, choices, default,
/// about, and what stored runs keep of it.
Json to_json(const Command& command);

}  // namespace kw::options
