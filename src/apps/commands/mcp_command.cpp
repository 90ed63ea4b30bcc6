#include <unistd.h>

#include <cstdio>

#include "commands/command.h"
#include "commands/values.h"
#include "mcp/http_server.h"
#include "mcp/run_command.h"
#include "mcp/scratch.h"
#include "mcp/server.h"
#include "mcp/stdio.h"
#include "mcp/token.h"

namespace kw::commands {

namespace {

Result<mcp::ServerSettings> server_settings(const Args& args) {
  std::vector<std::string> folders = args.all("--root");
  if (folders.empty()) folders.emplace_back(".");
  mcp::ServerSettings settings;
  settings.version = version();
  settings.roots = KW_TRY(mcp::Roots::open(folders));
  settings.tools = mcp::offered_tools(args.has("--read-only"));
  settings.allowed = {args.has("--allow-python"), args.has("--allow-host-code"),
                      args.has("--allow-commands")};
  settings.runner = [allowed = settings.allowed, roots = settings.roots.folders()](
                        const std::vector<std::string>& words, const mcp::Callbacks& told) {
    return mcp::run_command(words, allowed, roots, told);
  };
  return settings;
}

Result<int> serve_http(const Args& args, mcp::Server& server) {
  const std::string file = args.one("--token-file");
  const std::string token = KW_TRY(file.empty() ? mcp::new_token() : mcp::token_of_file(file));
  const auto ready = [&](uint16_t at) {
    std::fprintf(stderr, "kernelwright: serving http://127.0.0.1:%d%s\n", at, mcp::kHttpPath);
    if (file.empty()) std::fprintf(stderr, "kernelwright: token %s\n", token.c_str());
  };
  KW_TRY(mcp::serve_http(server, {static_cast<uint16_t>(args.integer("--http")), token, ready}));
  return kOk;
}

}  // namespace

Result<int> mcp_command(const Args& args, Io& io) {
  mcp::ServerSettings settings = KW_TRY(server_settings(args));
  mcp::Server server(std::move(settings));
  if (!args.all("--http").empty()) return serve_http(args, server);
  if (!args.one("--token-file").empty()) return input_error("--token-file is for --http");
  if (::isatty(STDIN_FILENO) != 0)
    io.note(
        "waiting for an MCP client on standard input, one message per line (docs/mcp.md); Ctrl-D "
        "ends it");
  mcp::serve_lines(server, STDIN_FILENO, STDOUT_FILENO);
  return kOk;
}

}  // namespace kw::commands
