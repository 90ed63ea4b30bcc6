// One call of a program on the virtual GPU: fills the buffers, runs the launches in order, checks
// the memory they leave, collects the outputs.
#pragma once

#include "arch/arch.h"
#include "ports/device.h"
#include "vgpu/decoded_image.h"

namespace kw::vgpu {

struct LaunchRequest {
  const arch::Target* target = nullptr;
  const Image* image = nullptr;
  const kernel::Program* program = nullptr;
  const ports::InputViews* inputs = nullptr;
  ports::RunOptions options;
};

/// Returns an Error only for problems that the candidate did not cause.
Result<ports::RunOutcome> run_program(const LaunchRequest& request);

}  // namespace kw::vgpu
