#include "commands/command.h"
#include "core/text.h"

namespace kw::commands {

Result<int> help_command(const Args& args, Io& io) {
  const std::string name = args.positionals.empty() ? "main" : args.positionals.front();
  const std::string text = options::help_text(name);
  if (text.empty()) {
    return input_error("there is no command '" + name + "'" +
                       did_you_mean(name, options::command_names()));
  }
  io.print(text);
  Json commands = Json::array();
  for (const Command& command : options::commands()) {
    const bool asked = name == "main" || name == command.name;
    if (asked && !command.hidden) commands.push(options::to_json(command));
  }
  return io.finish(kOk, Json::object().set("text", text).set("commands", std::move(commands)));
}

Result<int> version_command(const Args&, Io& io) {
  io.print(std::string("kernelwright ") + version() + "\n");
  return io.finish(kOk, Json::object().set("version", version()));
}

}  // namespace kw::commands
