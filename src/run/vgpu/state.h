// The running state of blocks and warps, as plain structs. The warp loop reads and writes them
// directly; slower code is in functions that take a Machine&. Sources built per CPU level include
// this header.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/inst.h"
#include "vgpu/stamps.h"

namespace kw::vgpu {

class SharedReaders;

/// One addressable object: a tensor of the program, or a .global or .const variable of the module.
struct MemoryRegion {
  std::byte* data = nullptr;
  uint64_t base = 0;  // its address in the kernel
  uint64_t size = 0;
  uint64_t* writes = nullptr;      // stamps per unit; null until the first tracked write
  uint64_t* reads = nullptr;       // first reader; null until the first tracked read
  uint64_t* readers = nullptr;     // another reader, if there are several
  std::byte* undefined = nullptr;  // undefined bits of the content; null: only unwritten units
  uint8_t unit_log2 = 4;
  bool writable = false;
  bool tracked = false;            // may change or be undefined during the program: needs stamps
  bool defined = true;             // has content before any write
  bool reports_undefined = false;  // storing undefined bits here is a finding (outputs)
  bool constant = false;
  bool is_result = false;  // after the last launch only asked whether all of it was written
};

enum class GroupState : uint8_t {
  Runnable,
  Collective,  // waits at `pc` for the other lanes named in its mask
  Barrier,     // waits at `pc` for the rest of its warp to reach the same aligned barrier
  Arrived,     // waits at `pc` for a barrier to open
};

/// Lanes of one warp that are at the same instruction.
struct LaneGroup {
  uint32_t pc = 0;
  uint32_t mask = 0;
  uint32_t last_run = 0;
  GroupState state = GroupState::Runnable;
};

/// Where a warp first read an undefined value, for the report.
struct UndefinedOrigin {
  uint32_t pc = ~0u;
  uint32_t region = 0;  // or kSharedRegion, kLocalRegion, kRegisterFile, kInactiveLane
  uint64_t offset = 0;
};

/// How a warp that may be waiting polls memory; updated by poll().
struct Poll {
  uint32_t pc = 0;  // the poll that later ones are compared with
  uint64_t address = 0, seen = 0;
  uint64_t progress = 0;  // of the machine, at that poll
  uint64_t power = 0, steps = 0, distance = 0;
  uint32_t repeats = 0;
  uint32_t patience = 0;            // more polls before the warp counts as waiting
  bool slept = false;               // no poll since the last sleep
  const std::byte* data = nullptr;  // the only place polled; null: several
  uint32_t bytes = 0;
};

/// Clocks inside one warp. [l][x]: accesses of lane x stamped earlier are ordered before lane l.
struct LaneClocks {
  uint32_t at[kLanes][kLanes] = {};
};

struct Warp {
  std::byte* regs = nullptr;
  /// Undefined bits of every register, in the same layout; valid while `tainted`.
  std::byte* shadow = nullptr;
  std::byte* local = nullptr;  // 32 x local_bytes
  std::byte* local_undefined = nullptr;
  uint32_t undefined_at = 0;  // a byte of the shadow that had undefined bits when last looked at
  uint32_t index = 0;
  uint32_t present = 0;  // lanes that exist
  uint32_t live = 0;     // lanes that have not exited
  uint32_t exit_pc = 0;  // where the last lanes exited
  uint32_t group_count = 0;
  LaneGroup groups[kLanes];
  uint32_t turn = 0;
  bool rotate = false;  // another group must run: this one spins or has used its share
  bool tainted = false;
  bool follows_all = false;  // undefined bits came from elsewhere than registers never written
  bool spinning = false;
  UndefinedOrigin origin;
  /// Null: its lanes have synchronised all together or not at all.
  LaneClocks* lane_clocks = nullptr;
  uint64_t executed = 0;
  uint32_t quiet_slices = 0;  // consecutive slices in which nothing changed
  Poll poll;
};

/// Why a warp stopped running.
enum class WarpStop : uint8_t { Slice, Blocked, Done, Spin, Stop, Tainted };

struct Block {
  Warp* warps = nullptr;
  uint32_t warp_count = 0, thread_count = 0;
  uint64_t linear = 0;
  uint32_t index[3] = {0, 0, 0};

  std::byte* shared = nullptr;
  uint32_t shared_bytes = 0;  // addresses at or above it are outside
  uint8_t unit_log2 = 2;
  uint64_t* shared_writes = nullptr;
  uint64_t* shared_reads = nullptr;
  uint64_t* shared_readers = nullptr;  // another reader
  SharedReaders* readers = nullptr;    // all readers; null: two of each unit suffice
  bool ordered_in_parts = false;       // some threads without the others since the last barrier
  std::byte* shared_undefined = nullptr;

  uint32_t time = 1;          // grows with every synchronisation
  uint32_t start_time = 1;    // earlier stamps belong to other blocks
  uint32_t barrier_time = 1;  // everything stamped earlier is ordered before every thread
  bool dirty = false;         // an access was stamped with the current time
  /// [w][v]: accesses of warp v stamped earlier are ordered before warp w.
  uint32_t clocks[kLanes][kLanes] = {};
  uint32_t activations = 0;  // number of times that it started or resumed
  uint32_t segment = 0;      // current segment of this block; 0: none yet at this time
  /// Segments [low, high) are this block's and before its last barrier.
  uint32_t ordered_low = 1, ordered_high = 0;
};

}  // namespace kw::vgpu
