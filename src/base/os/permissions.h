// What this process may run for the people who gave it text. A user's own command may run
// everything. The MCP server forbids its clients' calls what it was not started with, through the
// environment, so that the rule holds in every process below.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.h"

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

/// The environment entry that keeps a child's files in these folders, which are resolved. They
/// apply to every file that os reads or writes, beside what is the program's own: so they hold for
/// what a client's file names in turn, and for a folder that is swapped after it was checked.
std::string keeping_in(const std::vector<std::string>& roots);
/// Whether such folders are set: this process works for a client.
bool is_served();
/// Input Error when it works for a client and a path that a client's file names lies outside.
Status check_named(const std::string& path);
/// Input Error when it works for a client and this file, just opened, is neither in its folders nor
/// the program's own.
Status check_opened(int fd, const std::string& path);

}  // namespace kw::os
