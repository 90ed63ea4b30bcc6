// Writes kernels and plan lines as the text of one kernel module.
#pragma once

#include <string>
#include <vector>

#include "emit/emit.h"
#include "plan/partition.h"

namespace kw::generate {

/// One trace's kernels, in the order they run.
struct Sequence {
  const Program* program = nullptr;
  Partition partition;
  std::vector<Kernel> kernels;
};

/// `note` is the module's comment about its design. `switches` adds the switches of switches.h.
std::string module_text(const task::Task& task, const std::vector<Sequence>& sequences,
                        const std::string& note, bool switches = false);

}  // namespace kw::generate
