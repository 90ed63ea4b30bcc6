// One launch on several host threads, for kernels whose blocks need no order between them.
#pragma once

#include <string>

#include "vgpu/machine.h"
#include "vgpu/scheduler.h"

namespace kw::vgpu {

struct ParallelResult {
  /// No findings, and no block used another's data: memory is as after a serial run.
  bool clean = false;
  std::string late;  // where it was at the deadline; "" if in time, or if a finding came first
  uint64_t executed = 0;
  uint32_t next_segment = 1;
  std::vector<uint8_t> ways;  // Machine::ways of all threads
};

/// Each host thread has its own stamps. They are compared afterwards, so conflicts between blocks
/// are found on all threads. When not clean, memory is invalid and the program must run again
/// serially. `is_last`: no other launch follows, so stamps of results are not kept.
ParallelResult run_parallel(const LaunchContext& context, Regions& memory, const BlockOrder& order,
                            int threads, uint64_t budget, uint32_t first_segment, bool is_last);

}  // namespace kw::vgpu
