// One launch of a plan, made real: parameters packed, attributes set, refused with the numbers when
// it cannot be.
#pragma once

#include <vector>

#include "cuda/context.h"
#include "cuda/image.h"
#include "kernel/program.h"

namespace kw::cuda {

/// Checks everything that can be known before launching and opts in to large shared memory. Once
/// per launch and program, outside any clock.
Went prepare_launch(const Context& context, Function& function, const kernel::Launch& launch);

/// Queues the launch on the context's stream. `addresses` is parallel to the program's buffers.
Went enqueue_launch(const Context& context, const Function& function, const kernel::Launch& launch,
                    const std::vector<CuDevicePtr>& addresses);
/// The same on a stream of the caller's, of the same context.
Went enqueue_launch_on(CuStream stream, const Context& context, const Function& function,
                       const kernel::Launch& launch, const std::vector<CuDevicePtr>& addresses);

}  // namespace kw::cuda
