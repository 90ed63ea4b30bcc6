// What this process may run for the people who gave it text. A user's own command may run
// everything. The MCP server forbids its clients' calls what it was not started with, through the
// environment, so that the rule holds in every process below.
#pragma once

#include <cstdint>
#include <string>

namespace kw::os {

enum class Runs : uint8_t {
  Python,    // a reference or a candidate in Python
  HostCode,  // the launcher of a CUDA file
  Commands,  // a program named by a model id
};

/// "" when it may run; else a sentence that says so and names the switch that allows it.
std::string why_forbidden(Runs what);

struct Permissions {
  bool python = false, host_code = false, commands = false;
};
/// The environment entry NAME=value that holds a child to these permissions, and to our own.
std::string forbidding(const Permissions& allowed);

}  // namespace kw::os
