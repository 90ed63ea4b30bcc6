// Evaluates the launch geometry and checks it against the limits of all devices and of the target.
// Internal.
#pragma once

#include <cstdint>

#include "arch/arch.h"
#include "core/result.h"
#include "kernel/instantiate.h"
#include "kernel/module.h"
#include "kernel/program.h"

namespace kw::kernel {

struct LaunchShape {
  Dim3 grid, block, cluster;
  int64_t shared_bytes = 0;  // dynamic
};

/// Block, cluster and dynamic shared memory; the grid stays at 1.
Result<LaunchShape> block_shape(const LaunchDecl& launch, const Scope& scope);

/// Fills in the grid. Returns true when there is no block to launch: an extent is 0, and
/// `may_be_empty` allows it because some dim is 0.
Result<bool> grid_shape(const LaunchDecl& launch, const Scope& scope, bool may_be_empty,
                        LaunchShape& shape);

/// Checks shared memory, registers, launch bounds and clusters against the target.
Status check_resources(const LaunchDecl& launch, const KernelInfo& info, const arch::Target& target,
                       const LaunchShape& shape);

}  // namespace kw::kernel
