// One resident block's turn: its warps run until the block ends, waits for other blocks or has had
// its share. Which block gets the turn is the scheduler's business.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/machine.h"
#include "vgpu/polling.h"
#include "vgpu/pool.h"

namespace kw::vgpu {

/// Another order of the items: backwards for kReverseSeed, else shuffled by seed and salt.
void permute(std::vector<uint32_t>& items, uint64_t seed, uint64_t salt);

class BlockRun {
 public:
  enum class State { Finished, Yielded, Stopped };

  BlockRun(Machine& m, ResidentBlock& block) : m_(m), block_(block) {}

  State run();
  /// The block gave way because all its warps wait for memory to change.
  bool idle() const { return idle_; }

 private:
  void enter();
  bool finished() const;
  bool round(const std::vector<uint32_t>& order, bool& any_worked);
  Leave run_warp(Warp& w);
  Leave slice(Warp& w, uint64_t fuel);
  bool goes_round(Warp& w);
  bool block_goes_round();
  void check_limits(const Warp& w);
  bool is_late();

  Machine& m_;
  ResidentBlock& block_;
  uint64_t spent_ = 0;
  bool idle_ = false;
  uint64_t quiet_rounds_ = 0;  // since memory outside the block last changed
  uint64_t outside_ = 0;       // … as it was then
  uint64_t looks_ = 0;
  CycleFinder first_warp_, whole_block_;
};

}  // namespace kw::vgpu
