// Which block and warp runs when. Deterministic: a block runs to its end unless it waits for
// another one; then the next block starts, as many as the device holds, and they take turns.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/machine.h"

namespace kw::vgpu {

/// The seed that runs blocks and warps backwards instead of shuffling them.
inline constexpr uint64_t kReverseSeed = 1;

/// Order in which blocks 0 … count-1 start. With a seed, shuffled inside windows no larger than
/// what is resident at once, so that waiting for a lower-numbered block stays legal.
std::vector<uint32_t> block_order(uint64_t count, uint64_t resident, uint64_t seed);

/// Runs order[begin, end) to completion; false when the run must stop (the log says why).
bool run_blocks(Machine& m, const std::vector<uint32_t>& order, size_t begin, size_t end);

}  // namespace kw::vgpu
