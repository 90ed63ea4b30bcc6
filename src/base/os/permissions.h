// Which code this process may run for the users who gave it text. A user's own command may run
// everything. The MCP server forbids its clients whatever it was not started with. It does so
// through the environment, so that the rule holds in every child process.
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

/// "" when it may run. Otherwise a sentence that says so and names the option that allows it.
std::string why_forbidden(Runs what);

/// Why this command runs no Python: the user's option, or a folder that was only to be read.
enum class NoPython : uint8_t { Option, Folder };
/// From now on this process and those that it starts run no Python of references and candidates.
/// For our own program only, before it starts threads: the rule is a variable of the environment.
void forbid_python(NoPython why);

struct Permissions {
  bool python = false, host_code = false, commands = false;
};
/// The environment entry NAME=value that limits a child to these permissions and to our own.
std::string forbidding(const Permissions& allowed);

/// The environment entry that keeps a child's files in these folders, which must be resolved. They
/// apply to every file that os reads or writes, except the program's own files. So they also hold
/// for files that a client's file names, and for a folder swapped after its check.
std::string keeping_in(const std::vector<std::string>& roots);
/// Whether such folders are set, so that this process works for a client.
bool is_served();
/// Input Error when this process works for a client and the path lies outside the client's folders.
Status check_named(const std::string& path);
/// Input Error when this process works for a client and the opened file is not allowed. Allowed are
/// files in the client's folders and the program's own files.
Status check_opened(int fd, const std::string& path);

}  // namespace kw::os
