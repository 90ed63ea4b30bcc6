// Sorting kernels for selections without a better schedule: correct for every length and count.
#pragma once

#include "emit/emit.h"

namespace kw::generate {

/// Adds kernels named after the region, and variants of which the last always holds.
void add_sort(const Region& region, const TargetContext& context, KernelBuilder& kernel);

}  // namespace kw::generate
