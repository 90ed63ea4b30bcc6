// Runs a program once, in this process, with every check that the hardware allows.
#pragma once

#include <vector>

#include "cuda/buffers.h"
#include "cuda/image.h"
#include "ports/device.h"

namespace kw::cuda {

struct RunRequest {
  const kernel::Program* program = nullptr;
  Sources inputs;        // parallel to the program's buffers
  MutableBytes outputs;  // the same: places for outputs and inouts; empty unless
                         // options.copy_outputs
  ports::RunOptions options;
  uint64_t seed = 0;  // of the poison patterns
};

/// The result of a run. RunOutcome::buffers stays empty: the outputs are in RunRequest::outputs.
/// Context::lost() tells whether the context can still be used.
struct RunReport {
  ports::RunOutcome outcome;
  bool device_lost = false;
};

/// Checks a program's consistency: buffer indices, layouts, sizes of inputs and outputs.
/// Blame::Input.
Status check_program(const kernel::Program& program, const Sources& inputs);

/// The program must have passed check_program.
RunReport run_program(const Context& context, JobKernels& kernels, LoadedImage& image,
                      const RunRequest& request);

/// One kernel of a program, ready to be launched.
struct ReadyLaunch {
  LoadedFunction* function = nullptr;
  const kernel::Launch* launch = nullptr;
};
/// Looks up and checks every launch before any of them runs.
FaultOr<std::vector<ReadyLaunch>> ready_launches(const Context& context, LoadedImage& image,
                                                 const kernel::Program& program);

}  // namespace kw::cuda
