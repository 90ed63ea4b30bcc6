// Decides which block runs when; the order is deterministic. A block runs to its end unless it
// waits for another one. Then the next block starts, up to as many as the device holds, and they
// alternate.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/machine.h"

namespace kw::vgpu {

/// With this seed, blocks and warps run in reverse order instead of a shuffled one.
inline constexpr uint64_t kReverseSeed = 1;
/// Blocks and warps also interrupt each other after short slices and at strong accesses.
inline constexpr uint64_t kPreemptSeed = 0x1eaf;  // and the next two
inline constexpr uint64_t kPreemptSeeds = 3;
/// One of them: some waits last long.
inline constexpr uint64_t kPatientSeed = kPreemptSeed + 1;

/// Seconds of the steady clock.
double now_seconds();
/// To be called when one instruction may take long. Ends the running slice when time is up.
void watch_clock(Machine& m);
/// Takes work that no instruction stands for (findings, printed text) from the budget, so that the
/// work limit ends a kernel before the time limit does.
void charge(Machine& m, uint64_t instructions);
/// Whether the time limit has passed. Notes where the kernel was.
bool stop_if_late(Machine& m, int line);

/// The order in which blocks 0 … size-1 start, computed on demand: a grid may have billions of
/// blocks. With a seed it is shuffled inside windows of at most the resident blocks. So waiting for
/// a lower-numbered block stays legal.
class BlockOrder {
 public:
  BlockOrder(uint64_t size, uint64_t resident, uint64_t seed);
  uint64_t size() const { return size_; }
  uint32_t operator[](uint64_t at);

 private:
  uint64_t size_, resident_, seed_;
  uint64_t begin_ = 0;            // start of the current window
  std::vector<uint32_t> window_;  // empty: none yet
};

/// Runs order[begin, end) to completion. Returns false when the run must stop; a finding or
/// Machine::late says why.
bool run_blocks(Machine& m, BlockOrder& order, uint64_t begin, uint64_t end);

}  // namespace kw::vgpu
