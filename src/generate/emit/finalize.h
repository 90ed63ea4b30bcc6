// Search spaces of modules with several kernels: every kernel keeps only the choices that matter
// most, or the product of all would never be searched.
#pragma once

#include "emit/kernel.h"
#include "emit/target_context.h"

namespace kw::generate {

/// With other kernels beside it, the first value of each tunable, and of the vectors' width also
/// the value that switches them off. Methods that cannot be switched off any more say so by having
/// no `off`.
void finalize(Kernel& kernel, const TargetContext& context);

}  // namespace kw::generate
