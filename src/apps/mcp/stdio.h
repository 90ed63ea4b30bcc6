// The MCP server over standard input and output: one message per line and no other text.
#pragma once

#include "mcp/server.h"

namespace kw::mcp {

/// Serves until the client closes its end or Ctrl-C; then every job is stopped. `in` and `out` are
/// descriptors.
void serve_lines(Server& server, int in, int out);

}  // namespace kw::mcp
