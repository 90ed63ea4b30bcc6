// Arguments that several tools share, and the two halves of the table. Internal to mcp.
#pragma once

#include <string>
#include <vector>

#include "mcp/tool.h"

namespace kw::mcp {

/// Tools for tasks and kernels; they keep no state.
std::vector<AgentTool> kernel_tools();
/// Tools for runs, optimisations and jobs, which remain after a call.
std::vector<AgentTool> run_tools();

/// A tool's own arguments, then options of its command by their names for agents ('!': required),
/// then those for waiting.
std::vector<ToolArgument> arguments(const std::string& command, std::vector<ToolArgument> own,
                                    const std::string& options,
                                    std::vector<ToolArgument> waiting = {});

const inline ToolArgument kBackground{
    "background", Kind::Waiting, "",
    "return a job handle at once; call job_status and job_result later"};
const inline ToolArgument kWaitSeconds{"wait_seconds",
                                       Kind::Waiting,
                                       "",
                                       "return a job handle if the tool takes longer than this",
                                       false,
                                       "",
                                       0,
                                       86400};
const inline ToolArgument kFull{"full", Kind::Waiting, "",
                                "return the full result: raw samples, counters by line"};

}  // namespace kw::mcp
