#include "commands/command.h"
#include "core/text.h"

namespace kw::commands {

int help_command(const Args& args, Io& io) {
  const std::string name = args.positionals.empty() ? "main" : args.positionals.front();
  const std::string text = options::help_text(name);
  if (text.empty()) {
    return io.fail(input_error("there is no command '" + name + "'" +
                               did_you_mean(name, options::command_names())));
  }
  io.print(text);
  return io.finish(kOk, Json::object().set("text", text));
}

int version_command(const Args&, Io& io) {
  io.print(std::string("kernelwright ") + version() + "\n");
  return io.finish(kOk, Json::object().set("version", version()));
}

}  // namespace kw::commands
