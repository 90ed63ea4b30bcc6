// Instructions in which lanes of a warp cooperate: shuffles, votes, matches, reductions,
// __syncwarp.
#pragma once

#include <cstdint>

#include "vgpu/state.h"

namespace kw::vgpu {

struct Machine;

/// Executes the collective at `pc` for those lanes of `mask` whose named partners have all arrived.
/// Returns these lanes.
uint32_t run_collective(Machine& m, Warp& w, uint32_t pc, uint32_t mask);

/// To be called when no lane of the warp can continue. Reports which lanes wait for which.
void report_collective_deadlock(Machine& m, const Warp& w, const LaneGroup& group);

}  // namespace kw::vgpu
