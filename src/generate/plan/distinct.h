// Resolves plan names that several traces use for different things. The kernels of each trace are
// written independently of the others.
#pragma once

#include <vector>

#include "plan/module_text.h"

namespace kw::generate {

/// Renames lets and scratch of later sequences if an earlier one uses the name with another
/// meaning. Device code keeps its names, because a plan passes arguments by position.
void make_distinct(std::vector<Sequence>& sequences);

}  // namespace kw::generate
