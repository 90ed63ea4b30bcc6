// Cuts a program into regions, one kernel each, and decides what goes through memory between them.
#pragma once

#include <vector>

#include "plan/program.h"
#include "plan/schedule.h"

namespace kw::generate {

struct Partition {
  std::vector<Region> regions;  // in the order they run
  std::vector<Buffer> scratch;  // results that only other regions read
};

/// How far regions are joined.
enum class Fusing : uint8_t {
  None,    // every op that looks at many elements is a kernel of its own
  Pairs,   // two at a time, as long as a schedule takes them as one
  Chains,  // the same, after products and the reductions between them where a schedule takes all
};

/// The graph is the program's: it must stay.
Partition make_partition(const Program& program, const TargetContext& context, Fusing fusing);

}  // namespace kw::generate
