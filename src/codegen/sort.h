// Sorting kernels as the last resort of every selection: right for every length and count.
#pragma once

#include "codegen/schedule.h"
#include "codegen/selection.h"

namespace kw::codegen {

/// Adds kernels named like the region, and variants of which the last always holds.
void add_sort(const Region& region, const Situation& situation, Kernel& kernel);

}  // namespace kw::codegen
