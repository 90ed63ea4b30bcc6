// Instructions in which lanes of a warp work together: shuffles, votes, matches, reductions,
// __syncwarp.
#pragma once

#include <cstdint>

#include "vgpu/state.h"

namespace kw::vgpu {

struct Machine;

/// Executes the collective at `pc` for those of the lanes in `mask` whose named partners are all
/// here; returns them.
uint32_t run_collective(Machine& m, Warp& w, uint32_t pc, uint32_t mask);

/// The warp can go on with nothing: says which lanes wait for whom.
void report_collective_deadlock(Machine& m, const Warp& w, const Group& group);

}  // namespace kw::vgpu
