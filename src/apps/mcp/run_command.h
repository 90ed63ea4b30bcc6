// Runs one of our own commands in its own process, so that a crash ends only that process.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "mcp/jobs.h"
#include "os/permissions.h"

namespace kw::mcp {

/// The hidden command of a job's process, and its frames. To it: {"words": […]} and then perhaps
/// {"stop": true}. From it: {"progress": text}, {"note": text} and at the end {"document": {…}}.
inline constexpr const char* kJobCommand = "worker-job";

/// Runs `words` (the command first) in a process of our own program. It runs client code only as
/// allowed, and uses no files outside the roots except its own.
Result<Json> run_command(const std::vector<std::string>& words, const os::Permissions& allowed,
                         const std::vector<std::string>& roots, const Callbacks& callbacks);

}  // namespace kw::mcp
