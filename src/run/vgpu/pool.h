// Storage of the resident blocks: register files, shared and local memory, stamps, barriers. The
// next block reuses it; only what a new block can see is reset.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vgpu/machine.h"
#include "vgpu/memory_order.h"
#include "vgpu/readers.h"
#include "vgpu/state.h"

namespace kw::vgpu {

struct LaunchContext;

/// One of the sixteen named barriers of a block, in its current phase.
struct NamedBarrier {
  uint32_t warps = 0;             // warps that take part so far
  uint32_t waiting[kLanes] = {};  // per warp: lanes that wait
  uint32_t passed[kLanes] = {};   // per warp: lanes that arrived without waiting
  /// Per warp: the block time up to which these arrivals publish accesses.
  uint32_t passed_time[kLanes] = {};
  uint32_t expected = 0;                    // number of threads; 0: all of the block
  uint32_t votes = 0, voters = 0;           // for barrier.red
  uint32_t unsure_votes = 0, unsure = 0;    // of these, from undefined predicates
  UndefinedOrigin origin;                   // of one undefined predicate
  uint32_t first_pc = 0, first_thread = 0;  // of the first arrival, for messages
};

/// The last opening of a named barrier of some threads of the block.
struct BarrierOpening {
  uint32_t time = 0;    // block time; 0: it has not opened
  uint32_t waited = 0;  // warps that waited for it
  uint32_t pc = 0, thread = 0;
};

struct PendingCopy {
  uint32_t lane = 0, shared = 0, bytes = 0, pc = 0;
  uint32_t group = 0;             // commit group of its lane
  uint32_t region = 0, read = 0;  // the source, and how many bytes come from there; 0: none
  uint64_t source = 0;
  std::byte data[16] = {};
  std::byte undefined[16] = {};
  bool has_undefined = false;
};

/// The pending cp.async copies of one warp.
struct AsyncQueue {
  std::vector<PendingCopy> pending;
  uint32_t group[kLanes] = {};  // number of commits per lane
};

/// wgmma reads shared memory until the kernel waits for it. This is what it read when it was
/// issued.
struct PendingProduct {
  uint32_t pc = 0, group = 0;
  std::vector<uint32_t> pieces;  // offsets of pieces of 16 bytes
  std::vector<std::byte> bytes;
};
struct GroupQueue {
  std::vector<PendingProduct> pending;
  uint32_t group = 0;  // number of commits
};

/// A block with the parts that the warp loop does not use directly.
struct ResidentBlock : Block {
  NamedBarrier barriers[16];
  uint32_t awaited = 0;  // the barriers at which a warp has arrived, one bit each
  BarrierOpening openings[16];
  uint32_t refresh_time = 0;           // earlier reads are no longer in the cache of its SM
  std::unique_ptr<MemoryOrder> order;  // null: no fence and no flag yet
  std::vector<AsyncQueue> async;
  std::vector<GroupQueue> products;
  std::vector<Warp> warp_storage;
  std::vector<std::byte> files, shadows, shared_storage, shared_bits, local_storage, local_bits;
  std::vector<uint64_t> stamps;
  std::vector<std::unique_ptr<LaneClocks>> lane_clocks;
  std::unique_ptr<SharedReaders> all_readers;             // Block::readers
  std::unordered_map<uint32_t, UndefinedOrigin> origins;  // of undefined bytes in shared memory
  std::vector<std::vector<std::byte>> saved;              // per thread: frames of recursive calls
};

/// The block whose warp runs.
inline ResidentBlock& running(Machine& m) { return static_cast<ResidentBlock&>(*m.block); }

class BlockPool {
 public:
  explicit BlockPool(const LaunchContext& context);

  /// Returns a block that is ready to run. It reuses the storage of a finished block if there is
  /// one.
  ResidentBlock& start(uint32_t linear);
  void finish(ResidentBlock& block);
  /// The zeroed undefined-bit file of a warp; allocated at the first call.
  std::byte* shadow(ResidentBlock& block, const Warp& warp);

 private:
  std::unique_ptr<ResidentBlock> create() const;
  void reset(ResidentBlock& block, uint32_t linear) const;

  const LaunchContext& context_;
  std::vector<std::unique_ptr<ResidentBlock>> all_;
  std::vector<ResidentBlock*> free_;
};

/// Bytes of host memory that one resident block needs.
uint64_t resident_bytes(const LaunchContext& context);

}  // namespace kw::vgpu
