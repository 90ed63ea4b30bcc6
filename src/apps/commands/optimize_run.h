// Reads the options of optimize: the request for a new run, and the tools (task, devices, judge)
// in which a run is worked on.
#pragma once

#include <memory>
#include <string>

#include "commands/command.h"
#include "optimize/steps.h"
#include "workflows/task_tools.h"

namespace kw::commands {

/// The request for the tools, from options.
Result<workflows::TaskToolsRequest> task_tools_request(const Args& args);
/// The same from state.json; options given now (--device, --compiler, --threads, --timeout,
/// --budget-seconds) win.
Result<workflows::TaskToolsRequest> task_tools_request(const optimize::Settings& settings,
                                                       const Args& args);

Result<std::unique_ptr<workflows::TaskTools>> open_optimize_tools(
    const workflows::TaskToolsRequest& request, Io& io);

/// The request for a new run: kernel, settings, folder. `kernel` is the path of the baseline.
Result<optimize::SetupRequest> setup_request(const Args& args, const std::string& kernel,
                                             const std::string& proposer,
                                             workflows::TaskTools& tools, Io& io);

}  // namespace kw::commands
