// Cuts a program into regions, one kernel each, and decides what goes through memory between them.
#pragma once

#include <vector>

#include "codegen/program.h"
#include "codegen/schedule.h"

namespace kw::codegen {

struct Partition {
  std::vector<Region> regions;  // in the order they run
  std::vector<Buffer> scratch;  // results that only other regions read
};

/// `fuse`: regions are joined as long as a schedule takes them as one; otherwise every op that
/// looks at many elements is a kernel of its own. The graph is the program's: it must stay.
Partition make_partition(const Program& program, const Situation& situation, bool fuse);

}  // namespace kw::codegen
