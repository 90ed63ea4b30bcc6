#include "kHelpText.inc"

#include "commands/command.h"
#include "core/text.h"

namespace kw::commands {

std::string help_text(const std::string& section) {
  std::string out;
  bool inside = false;
  for (const std::string_view line : split_lines(kHelpText)) {
    if (line.substr(0, 1) == "@") {
      inside = line.substr(1) == section;
      continue;
    }
    if (inside) out += std::string(line) + "\n";
  }
  while (out.size() > 1 && out[out.size() - 2] == '\n') out.pop_back();
  return out;
}

int help_command(const Args& args, Io& io) {
  const std::string name = args.positionals.empty() ? "main" : args.positionals.front();
  const std::string text = help_text(name);
  if (text.empty()) {
    std::vector<std::string> names;
    for (const Command& command : commands()) {
      if (!command.hidden) names.emplace_back(command.name);
    }
    return io.fail(input_error("there is no command '" + name + "'" + did_you_mean(name, names)));
  }
  io.print(text);
  return io.finish(kOk, Json::object().set("text", text));
}

int version_command(const Args&, Io& io) {
  io.print(std::string("kernelwright ") + version() + "\n");
  return io.finish(kOk, Json::object().set("version", version()));
}

}  // namespace kw::commands
