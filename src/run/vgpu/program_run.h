// One call of a program on the virtual GPU: buffers in, launches in order, checks of what is left
// behind, buffers out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "arch/arch.h"
#include "ports/device.h"
#include "vgpu/image.h"

namespace kw::vgpu {

struct RunRequest {
  const arch::Target* target = nullptr;
  const Image* image = nullptr;
  const kernel::Program* program = nullptr;
  const ports::InputViews* inputs = nullptr;
  ports::RunOptions options;
};

/// An Error only for what is not the candidate's fault.
Result<ports::RunOutcome> run_program(const RunRequest& request);

}  // namespace kw::vgpu
