// wgmma: four warps multiply matrices in shared memory, asynchronously to their threads.
#pragma once

#include <cstdint>

#include "vgpu/state.h"

namespace kw::vgpu {

struct Machine;

/// Computes the product when it is issued. Until the wait, no thread may write the memory it reads.
void run_group_product(Machine& m, Warp& w, uint32_t pc, uint32_t mask);

}  // namespace kw::vgpu
