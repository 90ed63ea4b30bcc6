// Checks and queues one launch of a launch plan: packs parameters, sets attributes. A refusal gives
// the numbers.
#pragma once

#include <vector>

#include "cuda/context.h"
#include "cuda/image.h"
#include "kernel/program.h"

namespace kw::cuda {

/// Checks all that can be known before launching and enables large shared memory. Called once per
/// launch and program, outside any clock.
MaybeFault prepare_launch(const Context& context, LoadedFunction& function,
                          const kernel::Launch& launch);

/// Queues the launch on the context's stream. `addresses` is parallel to the program's buffers.
MaybeFault enqueue_launch(const Context& context, const LoadedFunction& function,
                          const kernel::Launch& launch, const std::vector<CuDevicePtr>& addresses);
/// The same on the caller's stream, which must be of the same context.
MaybeFault enqueue_launch_on(CuStream stream, const Context& context,
                             const LoadedFunction& function, const kernel::Launch& launch,
                             const std::vector<CuDevicePtr>& addresses);

}  // namespace kw::cuda
