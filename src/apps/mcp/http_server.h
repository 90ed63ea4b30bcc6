// The MCP server over streamable HTTP: one endpoint on the loopback interface, for clients that
// have the token.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/result.h"
#include "mcp/server.h"

namespace kw::mcp {

inline constexpr const char* kHttpPath = "/mcp";

struct HttpOptions {
  uint16_t port = 0;  // 0: any free port
  std::string token;
  std::function<void(uint16_t port)> ready;  // called when connections are accepted
};

/// Serves until Ctrl-C; then every job is stopped. Error when the port cannot be used.
Status serve_http(Server& server, const HttpOptions& options);

}  // namespace kw::mcp
