// wmma, mma.sync, ldmatrix and stmatrix: a warp loads, multiplies and stores small matrices.
#pragma once

#include <cstdint>

#include "vgpu/state.h"

namespace kw::vgpu {

struct Machine;

/// All lanes of the warp must take part. Otherwise reports it and ends the run.
void run_tensor(Machine& m, Warp& w, uint32_t pc, uint32_t mask);

}  // namespace kw::vgpu
