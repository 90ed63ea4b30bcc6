// A file that a command was given as a candidate: a module, a CUDA file that becomes one, or one
// whose host code has to be recorded.
#pragma once

#include <string>
#include <vector>

#include "commands/command.h"
#include "verification/foreign_tier.h"

namespace kw::commands {

/// Whether the file is no module, so that it needs the task and a device to become one.
bool needs_reading(const std::string& path, const std::string& text);

/// Folders named by --include and $KW_CUTLASS, made absolute.
Result<std::vector<std::string>> include_folders(const Args& args);

/// The task's own words among --input; what only a launcher needs ("rows=B") is left out.
std::vector<std::string> task_inputs(const std::vector<std::string>& inputs);

/// `device` will judge. Notes are shown.
Result<verification::CandidateText> read_candidate_file(const std::string& path, const Args& args,
                                                        const task::Task& task,
                                                        const task::Dims& dims,
                                                        const ports::DeviceInfo& device, Io& io);

}  // namespace kw::commands
