// Reads a file that the user gave as a candidate: a module, a CUDA file that can be imported, or
// one whose host code must be recorded.
#pragma once

#include <string>
#include <vector>

#include "commands/command.h"
#include "verification/foreign_tier.h"

namespace kw::commands {

/// Whether the file is not a module: then the task and a device are needed to make one of it.
bool needs_reading(const std::string& path, const std::string& text);

/// Folders named by --include and $KW_CUTLASS, made absolute.
Result<std::vector<std::string>> include_folders(const Args& args);

/// The values of --input that belong to the task; those only a launcher needs ("rows=B") are left
/// out.
std::vector<std::string> task_inputs(const std::vector<std::string>& inputs);

/// `device` is the one that will judge. Notes are shown to the user.
Result<verification::CandidateText> read_candidate_file(const std::string& path, const Args& args,
                                                        const task::Task& task,
                                                        const task::Dims& dims,
                                                        const ports::DeviceInfo& device, Io& io);

}  // namespace kw::commands
