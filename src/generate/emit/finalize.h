// Reduces the search spaces of modules with several kernels. Each kernel keeps only its most
// important choices; otherwise the product of all would be too large to search.
#pragma once

#include "emit/kernel.h"
#include "emit/target_context.h"

namespace kw::generate {

/// With other kernels in the module, keeps the first value of each tunable, and for VEC also the
/// value that switches packs off. A method that can no longer be switched off gets an empty `off`.
void finalize(Kernel& kernel, const TargetContext& context);

}  // namespace kw::generate
