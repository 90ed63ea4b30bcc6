// Sorting kernels as the last resort of every selection: right for every length and count.
#pragma once

#include "emit/emit.h"
#include "scans/selection.h"

namespace kw::generate {

/// Adds kernels named like the region, and variants of which the last always holds.
void add_sort(const Region& region, const TargetContext& context, KernelBuilder& kernel);

}  // namespace kw::generate
