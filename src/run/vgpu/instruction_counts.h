// Exact counts of the work of a launch, per instruction, summed per source line at the end. The
// formulas are in docs/virtual-gpu.md.
#pragma once

#include <cstdint>
#include <vector>

#include "record/counters.h"
#include "vgpu/code.h"

namespace kw::vgpu {

/// Counts of one instruction. Its kind decides which fields are used.
struct InstCounts {
  uint64_t executed = 0, lanes = 0;
  uint64_t divergent = 0;                         // branches that split their group
  uint64_t requests = 0, sectors = 0, bytes = 0;  // global memory
  uint64_t conflicts = 0;                         // shared: wavefronts beyond the minimum
  /// Accesses to shared memory, generic ones too.
  uint64_t shared_requests = 0, shared_wavefronts = 0, shared_bytes = 0;
  uint64_t local_bytes = 0;
  uint64_t serialised = 0;  // atomics: lanes whose address an earlier lane used
};

struct CounterTable {
  InstCounts* rows = nullptr;  // one per instruction; the caller owns them
};

/// Sums the table per source line and in total.
record::LaunchCounters summarise(const Code& code, const std::vector<InstCounts>& table);

}  // namespace kw::vgpu
