// Partitions a program into regions, one kernel each, and decides which values go through memory
// between them.
#pragma once

#include <vector>

#include "plan/prepared_trace.h"

namespace kw::generate {

struct Partition {
  std::vector<Region> regions;  // in the order in which they run
  std::vector<Buffer> scratch;  // results that only other regions read
};

/// How far regions are joined.
enum class Fusing : uint8_t {
  None,    // every op that reads many elements has its own kernel
  Pairs,   // two at a time, as long as a schedule accepts both as one
  Chains,  // the same, but first products with the reductions between them
};

/// The result refers to the program's graph, which must outlive it.
Partition make_partition(const Program& program, const TargetContext& context, Fusing fusing);

}  // namespace kw::generate
