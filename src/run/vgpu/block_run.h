// Runs one resident block until it ends, waits for other blocks or has used its share of
// instructions. The scheduler decides which block runs next.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/machine.h"
#include "vgpu/polling.h"
#include "vgpu/pool.h"

namespace kw::vgpu {

/// Changes the order of the items: reversed for kReverseSeed, otherwise shuffled by seed and salt.
void permute(std::vector<uint32_t>& items, uint64_t seed, uint64_t salt);

/// A strong access: where blocks and warps interrupt each other, another one may run next.
void preempt(Machine& m, const Warp& w);
/// The next pseudo-random number of the schedule.
uint64_t decide(Machine& m);

class BlockRun {
 public:
  enum class State { Finished, Yielded, Stopped };

  BlockRun(Machine& m, ResidentBlock& block) : m_(m), block_(block) {}

  State run();
  /// True when the block yielded because all its warps wait for memory to change.
  bool idle() const { return idle_; }

 private:
  void enter();
  bool finished() const;
  bool round(const std::vector<uint32_t>& order, bool& any_worked);
  WarpStop run_warp(Warp& w);
  WarpStop slice(Warp& w, uint64_t fuel);
  bool repeats_state(Warp& w);
  bool block_repeats_state();
  void check_limits(const Warp& w);

  Machine& m_;
  ResidentBlock& block_;
  uint64_t spent_ = 0;
  bool idle_ = false;
  uint64_t quiet_rounds_ = 0;  // since memory outside the block last changed
  uint64_t outside_ = 0;       // Machine::outside at that time
  uint64_t looks_ = 0;
  CycleFinder first_warp_, whole_block_;
};

}  // namespace kw::vgpu
