// Names of the plan that several traces gave to different things. Each trace's kernels are written
// without a look at the others'.
#pragma once

#include <vector>

#include "plan/module_text.h"

namespace kw::generate {

/// Renames lets and scratch of later sequences where an earlier one means something else by the
/// name. Device code keeps its own names: what a plan passes, it passes by position.
void make_distinct(std::vector<Sequence>& sequences);

}  // namespace kw::generate
