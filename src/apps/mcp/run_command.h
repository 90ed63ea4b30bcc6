// One of our own commands in a process of its own: what it crashes on, it crashes on alone.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "mcp/jobs.h"
#include "os/permissions.h"

namespace kw::mcp {

/// The hidden command a job's process is started with, and the frames it speaks:
/// to it {"words": […]} and then perhaps {"stop": true}; from it {"progress": text},
/// {"note": text} and at the end {"document": {…}}.
inline constexpr const char* kJobCommand = "worker-job";

/// Runs `words` (the command first) in a process of our own program, which runs no code of the
/// client's beyond what is allowed, and touches no files outside of the roots but its own.
Result<Json> run_command(const std::vector<std::string>& words, const os::Permissions& allowed,
                         const std::vector<std::string>& roots, const Told& told);

}  // namespace kw::mcp
