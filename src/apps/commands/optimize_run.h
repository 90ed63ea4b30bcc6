// What the optimize command needs from the command line: a new run's request, and the workshop a
// run is worked on in.
#pragma once

#include <memory>
#include <string>

#include "commands/command.h"
#include "optimize/steps.h"
#include "workflows/workshop.h"

namespace kw::commands {

/// How a workshop is opened, from options and from what a run keeps about it.
Result<workflows::WorkshopRequest> workshop_request(const Args& args);
/// As kept in state.json; options given now (--device, --compiler, --threads, --timeout) win.
Result<workflows::WorkshopRequest> workshop_request(const optimize::Settings& settings,
                                                    const Args& args);

Result<std::unique_ptr<workflows::TaskWorkshop>> open_optimize_workshop(
    const workflows::WorkshopRequest& request, Io& io);

/// A new run: kernel, settings, folder. `kernel` is the path of the baseline.
Result<optimize::SetupRequest> setup_request(const Args& args, const std::string& kernel,
                                             const std::string& proposer,
                                             workflows::TaskWorkshop& workshop, Io& io);

}  // namespace kw::commands
