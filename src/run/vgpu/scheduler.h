// Which block and warp runs when. Deterministic: a block runs to its end unless it waits for
// another one; then the next block starts, as many as the device holds, and they take turns.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/machine.h"

namespace kw::vgpu {

/// The seed that runs blocks and warps backwards instead of shuffling them.
inline constexpr uint64_t kReverseSeed = 1;

/// Seconds of the steady clock.
double now_seconds();
/// To be called where one instruction may take long: ends the running slice when time is up.
void watch_clock(Machine& m);

/// Order in which blocks 0 … size-1 start, worked out as it is asked for: a grid may have billions.
/// With a seed, shuffled inside windows no larger than what is resident at once, so that waiting
/// for a lower-numbered block stays legal.
class BlockOrder {
 public:
  BlockOrder(uint64_t size, uint64_t resident, uint64_t seed);
  uint64_t size() const { return size_; }
  uint32_t operator[](uint64_t at);

 private:
  uint64_t size_, resident_, seed_;
  uint64_t begin_ = 0;            // of the window at hand
  std::vector<uint32_t> window_;  // empty: none yet
};

/// Runs order[begin, end) to completion; false when the run must stop (the log says why).
bool run_blocks(Machine& m, BlockOrder& order, uint64_t begin, uint64_t end);

}  // namespace kw::vgpu
