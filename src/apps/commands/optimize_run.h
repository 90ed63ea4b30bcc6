// Reads the options of optimize: the request for a new run, and the workshop (task, devices, tools)
// in which a run is worked on.
#pragma once

#include <memory>
#include <string>

#include "commands/command.h"
#include "optimize/steps.h"
#include "workflows/workshop.h"

namespace kw::commands {

/// The request for a workshop, from options.
Result<workflows::WorkshopRequest> workshop_request(const Args& args);
/// The same from state.json; options given now (--device, --compiler, --threads, --timeout) win.
Result<workflows::WorkshopRequest> workshop_request(const optimize::Settings& settings,
                                                    const Args& args);

Result<std::unique_ptr<workflows::TaskWorkshop>> open_optimize_workshop(
    const workflows::WorkshopRequest& request, Io& io);

/// The request for a new run: kernel, settings, folder. `kernel` is the path of the baseline.
Result<optimize::SetupRequest> setup_request(const Args& args, const std::string& kernel,
                                             const std::string& proposer,
                                             workflows::TaskWorkshop& workshop, Io& io);

}  // namespace kw::commands
