// Exact counts of what a launch does, per instruction; summed per source line at the end. Formulas:
// docs/virtual-gpu.md.
#pragma once

#include <cstdint>
#include <vector>

#include "record/counters.h"
#include "vgpu/code.h"

namespace kw::vgpu {

/// Counts of one instruction; which fields apply depends on what it is.
struct InstCounts {
  uint64_t executed = 0, lanes = 0;
  uint64_t divergent = 0;                         // branches that split their group
  uint64_t requests = 0, sectors = 0, bytes = 0;  // memory; sectors = wavefronts for shared memory
  uint64_t conflicts = 0;                         // shared: wavefronts beyond the minimum
  uint64_t shared_requests = 0, shared_wavefronts = 0,
           shared_bytes = 0;  // generic accesses that met shared memory
  uint64_t local_bytes = 0;
  uint64_t serialised = 0;  // atomics: lanes that met an address already taken
};

struct CounterTable {
  InstCounts* rows = nullptr;  // one per instruction, owned by whoever counts
};

/// Sums the table per source line and over all.
record::LaunchCounters summarise(const Code& code, const std::vector<InstCounts>& table);

}  // namespace kw::vgpu
