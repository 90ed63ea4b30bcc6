// Recognises warps and blocks that wait for others by looking at memory again and again. Who runs
// instead, and when nobody is left who could change anything, is the scheduler's business.
#pragma once

#include <cstdint>

#include "vgpu/pool.h"
#include "vgpu/state.h"

namespace kw::vgpu {

struct Machine;

/// What a strong load or a failed atomic saw. `data`: the one place all lanes looked at, or null
/// when they looked at several.
struct Look {
  uint32_t pc = 0;
  uint64_t address = 0;
  uint64_t seen = 0;  // hash of the values
  const std::byte* data = nullptr;
  uint32_t bytes = 0;
};

/// Notes a look; marks the warp as spinning when its looks repeat and nothing changes.
void poll(Machine& m, Warp& w, const Look& look);
/// A sleep counts as a look where nothing else is looked at.
void poll_sleep(Machine& m, Warp& w, uint32_t pc);

/// All warps of the block wait, and what those that spin look at is as it was: running it now would
/// change nothing.
bool still_waits(const ResidentBlock& block);

/// A fingerprint of all that decides what the block does next, except memory outside of it and the
/// order in which groups take turns.
uint64_t state_of(const ResidentBlock& block, uint32_t file_bytes);
uint64_t state_of(const ResidentBlock& block, const Warp& warp, uint32_t file_bytes);

/// Finds a cycle in a sequence of fingerprints of any length with two of them in mind (Brent).
class CycleFinder {
 public:
  /// The next of the sequence; true when it equals the remembered one.
  bool next(uint64_t value);
  void restart() { *this = CycleFinder(); }

 private:
  uint64_t remembered_ = 0;
  uint64_t power_ = 1, steps_ = 0;
  bool started_ = false;
};

}  // namespace kw::vgpu
