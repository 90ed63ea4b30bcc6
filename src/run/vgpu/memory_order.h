// What the threads of a block have fenced, released and acquired through memory, and the flags that
// carry it. Index 0 of a pair: inside the block; 1: device-wide.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "vgpu/known.h"
#include "vgpu/state.h"

namespace kw::vgpu {

struct Machine;
struct ResidentBlock;

/// A place in memory whose last strong write, or an atomic since, was a release.
struct Flag {
  Known in_block;  // what a reader of `block` learns
  Known device;    // what a reader of another block learns
  uint32_t block = 0;
  uint64_t version = 0;  // number of its last strong write
};

/// A warp whose lanes have met, or one of its lanes since then.
struct Party {
  Known known;      // ordered before its next access
  Known seen[2];    // read from flags; known after a fence. 0: of this block
  Known fenced[2];  // known at its last fence
  void join(const Party& other);
};

struct WarpParties {
  Party all;
  uint32_t apart = 0;  // lanes that know more than `all`
  std::unique_ptr<Party[]> lanes;
  /// What the warp releases, while it is not `fresh` and its lanes are not apart.
  Known released[2];
};

/// Made when a kernel first uses a fence or reads a flag.
struct MemoryOrder {
  /// [w][v]: accesses of warp v stamped earlier come before a fence that warp w knows of.
  uint32_t fenced[2][kLanes][kLanes] = {};
  /// [w][lane]: the last fence of a lane that made it without the others of its warp.
  uint32_t alone[2][kLanes][kLanes] = {};
  uint32_t lone_warps = 0;  // have entries in `alone` since their last synchronisation
  uint32_t fencers = 0;     // warps that know of a fence
  uint32_t fresh = 0;       // warps whose `released` is out of date
  bool changed = false;     // since the last barrier of the whole block

  uint32_t learned = 0;  // warps with an entry in `parties`
  WarpParties parties[kLanes];
  std::unordered_map<uint64_t, Flag> flags;    // in shared memory, by place
  std::unordered_map<uint64_t, uint64_t> saw;  // by place: version of the flag last read
};

/// These lanes of a warp have met: each knows what one of them knew.
void meet(ResidentBlock& block, uint32_t w, uint32_t lanes);
/// What the arrived warps know passes to the waiting ones.
void hand_over(MemoryOrder& order, uint32_t arrived, uint32_t waiting);
/// Whether a lane knows of an access by memory alone. `seen`: or would after a fence.
bool knows(const ResidentBlock& block, const Warp& by, int lane, uint32_t other_block,
           uint32_t thread, uint32_t time, bool seen);
/// The flag at an address, generic or in the window of shared memory, or null.
const Flag* flag_at(const Machine& m, uint64_t address, bool shared);
/// Whether the running block has read what the flag at this address holds now.
bool flag_is_read(const Machine& m, uint64_t address, bool shared);

}  // namespace kw::vgpu
