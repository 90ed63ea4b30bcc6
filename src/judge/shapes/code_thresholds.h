// Comparisons of compiled code whose operands follow from the launch alone: arguments, the grid,
// the block, and arithmetic on them. As expressions of the plan's names they are solved like
// comparisons of the plan itself.
#pragma once

#include <vector>

#include "kernel/module.h"
#include "ptx/ptx_module.h"
#include "shapes/thresholds.h"

namespace kw::shapes {

/// The comparisons of one kernel, launched as `launch` says, each once. A block or thread index
/// stands for its largest value.
std::vector<Threshold> code_thresholds(const ptx::Function& kernel,
                                       const kernel::LaunchDecl& launch);

}  // namespace kw::shapes
