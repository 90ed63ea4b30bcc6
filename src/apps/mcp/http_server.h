// The server over streamable HTTP: one endpoint on the loopback interface, for those who know the
// token.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/result.h"
#include "mcp/server.h"

namespace kw::mcp {

inline constexpr const char* kHttpPath = "/mcp";

struct HttpOptions {
  uint16_t port = 0;  // 0: any that is free
  std::string token;
  std::function<void(uint16_t port)> ready;  // once connections are taken
};

/// Serves until Ctrl-C; then every job is stopped. An Error when the port cannot be had.
Status serve_http(Server& server, const HttpOptions& options);

}  // namespace kw::mcp
