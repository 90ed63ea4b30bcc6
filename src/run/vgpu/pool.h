// Storage of blocks that are resident at once: register files, shared and local memory, stamps,
// barriers. Reused from block to block; only what a new block can see is reset.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vgpu/machine.h"
#include "vgpu/state.h"

namespace kw::vgpu {

struct LaunchContext;

/// One of the sixteen named barriers of a block, in the phase that is filling now.
struct NamedBarrier {
  uint32_t warps = 0;             // that take part so far
  uint32_t waiting[kLanes] = {};  // per warp: lanes that wait
  uint32_t passed[kLanes] = {};   // per warp: lanes that arrived without waiting
  uint32_t passed_time[kLanes] =
      {};                 // … and the block time up to which that publishes their accesses
  uint32_t expected = 0;  // threads; 0: all of the block
  uint32_t votes = 0, voters = 0;           // for barrier.red
  uint32_t unsure_votes = 0, unsure = 0;    // of them, by an undefined predicate
  UndefinedOrigin origin;                   // of one such predicate
  uint32_t first_pc = 0, first_thread = 0;  // of the first arrival, for messages
};

struct PendingCopy {
  uint32_t lane = 0, shared = 0, bytes = 0, pc = 0;
  uint32_t group = 0;  // commit group of its lane
  std::byte data[16] = {};
  std::byte undefined[16] = {};
  bool has_undefined = false;
};

/// Copies in flight of one warp: cp.async until the wait that lands them.
struct AsyncQueue {
  std::vector<PendingCopy> pending;
  uint32_t group[kLanes] = {};  // number of commits per lane
};

/// wgmma reads shared memory until it is waited for: what it read when it was issued.
struct PendingProduct {
  uint32_t pc = 0, group = 0;
  std::vector<uint32_t> pieces;  // offsets of 16 bytes each
  std::vector<std::byte> bytes;
};
struct GroupQueue {
  std::vector<PendingProduct> pending;
  uint32_t group = 0;  // number of commits
};

/// A block with everything the warp loop does not touch directly.
struct ResidentBlock : Block {
  NamedBarrier barriers[16];
  uint32_t fence_time = 0;            // block time of its last fence
  uint32_t device_fence_time = 0;     // … of its last fence for the whole device
  uint32_t released_time = 0;         // accesses before it were published inside the block
  uint32_t device_released_time = 0;  // … and to other blocks
  std::vector<AsyncQueue> async;
  std::vector<GroupQueue> products;
  std::vector<Warp> warp_storage;
  std::vector<std::byte> files, shadows, shared_storage, shared_bits, local_storage, local_bits;
  std::vector<uint64_t> stamps;
  std::vector<std::unique_ptr<LaneClocks>> lane_clocks;
  std::unordered_map<uint32_t, UndefinedOrigin> origins;  // of undefined bytes stored to shared
  std::vector<std::vector<std::byte>> saved;              // per thread: frames of recursive calls
};

/// The block whose warp runs.
inline ResidentBlock& running(Machine& m) { return static_cast<ResidentBlock&>(*m.block); }

class BlockPool {
 public:
  explicit BlockPool(const LaunchContext& context);

  /// A block ready to run; its storage is reused from a finished one when there is any.
  ResidentBlock& start(uint32_t linear);
  void finish(ResidentBlock& block);
  /// Undefined-bit file of a warp, cleared; made when first needed.
  std::byte* shadow(ResidentBlock& block, const Warp& warp);

 private:
  std::unique_ptr<ResidentBlock> create() const;
  void reset(ResidentBlock& block, uint32_t linear) const;

  const LaunchContext& context_;
  std::vector<std::unique_ptr<ResidentBlock>> all_;
  std::vector<ResidentBlock*> free_;
};

/// Bytes one resident block takes on the host.
uint64_t resident_bytes(const LaunchContext& context);

}  // namespace kw::vgpu
