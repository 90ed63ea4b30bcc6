#include <unistd.h>

#include "cli/command.h"
#include "mcp/run_command.h"
#include "mcp/server.h"
#include "mcp/stdio.h"

namespace kw::cli {

namespace {

Result<mcp::Settings> server_settings(const Args& args) {
  std::vector<std::string> folders = args.all("--root");
  if (folders.empty()) folders.emplace_back(".");
  mcp::Settings settings;
  settings.version = version();
  settings.roots = KW_TRY(mcp::Roots::open(folders));
  settings.tools = mcp::offered_tools(knows_command, args.has("--read-only"));
  settings.runner = mcp::run_command;
  return settings;
}

}  // namespace

bool knows_command(const std::string& name, const std::string& option) {
  const Command* command = find_command(name);
  if (command == nullptr || command->hidden) return false;
  if (option.empty()) return true;
  for (const OptionRow& row : command->options) {
    if (option == row.name) return true;
  }
  return false;
}

int mcp_command(const Args& args, Io& io) {
  Result<mcp::Settings> settings = server_settings(args);
  if (!settings) return io.fail(settings.error());
  mcp::Server server(std::move(*settings));
  mcp::serve_lines(server, STDIN_FILENO, STDOUT_FILENO);
  return kOk;
}

}  // namespace kw::cli
