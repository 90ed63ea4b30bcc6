// wgmma: four warps multiply matrices that lie in shared memory, behind the threads' backs.
#pragma once

#include <cstdint>

#include "vgpu/state.h"

namespace kw::vgpu {

struct Machine;

/// The product is made when it is issued; until it is waited for, nobody may write what it reads.
void run_group_product(Machine& m, Warp& w, uint32_t pc, uint32_t mask);

}  // namespace kw::vgpu
