// One launch on several host threads, for kernels whose blocks need no order among each other.
#pragma once

#include <string>
#include <vector>

#include "vgpu/machine.h"
#include "vgpu/scheduler.h"

namespace kw::vgpu {

struct ParallelResult {
  bool clean =
      false;         // nothing found, no block met another's data: memory is as after a serial run
  std::string late;  // where the deadline met it; "" when it did not, or something was found before
  uint64_t executed = 0;
  uint32_t next_segment = 1;
};

/// Each host thread has its own stamps; they are compared afterwards, so that conflicts between
/// blocks are noticed whichever threads they ran on. When not clean, memory is garbage and the
/// program must be run again serially.
ParallelResult run_parallel(const LaunchContext& context, Regions& memory, const BlockOrder& order,
                            int threads, uint64_t budget, uint32_t first_segment);

}  // namespace kw::vgpu
