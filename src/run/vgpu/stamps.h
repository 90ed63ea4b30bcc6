// Which thread last accessed a piece of memory: 64-bit stamps beside shared and global memory.
// There is one stamp per unit, the narrowest access that touched it. Comparing stamps decides the
// order, so most checks are one unsigned comparison. Sources built per CPU level include this
// header, so it has only always-inlined functions.
#pragma once

#include <cstdint>

#include "numeric/level.h"

namespace kw::vgpu {

/// Shared memory: [63] special, [62:36] block time, [35:26] thread, [25:4] instruction, [3:0]
/// flags. Block time grows with every synchronisation in the block. It does not restart for each
/// block; when it restarts, the stamps are rewritten. So a time before the block's start means "not
/// written by this block": undefined.
namespace shared_stamp {
inline constexpr uint64_t kRedZone = ~uint64_t{0};  // outside every variable
/// With a normal stamp: the unit holds undefined bits.
inline constexpr uint64_t kSpecial = uint64_t{1} << 63;
inline constexpr int kTimeShift = 36;
inline constexpr uint32_t kMaxTime = (1u << 27) - 2;
inline constexpr uint64_t kStrong = 1;  // atomic, volatile, relaxed …: does not race with strong
inline constexpr uint64_t kAtomic = 8;  // writes: by an atomic
inline constexpr uint64_t kManyLanes = 2;  // reads: several lanes of that warp
inline constexpr uint64_t kManyWarps = 4;  // reads: several warps

KW_LANE constexpr uint64_t make(uint32_t time, uint32_t thread, uint32_t pc, uint64_t flags) {
  return (uint64_t{time} << kTimeShift) | (uint64_t{thread} << 26) | (uint64_t{pc} << 4) | flags;
}
KW_LANE constexpr uint32_t time(uint64_t s) { return (s & ~kSpecial) >> kTimeShift; }
KW_LANE constexpr uint32_t thread(uint64_t s) { return (s >> 26) & 1023; }
KW_LANE constexpr uint32_t warp(uint64_t s) { return (s >> 31) & 31; }
KW_LANE constexpr uint32_t pc(uint64_t s) { return (s >> 4) & 0x3fffff; }
}  // namespace shared_stamp

/// Global memory: [63] holds undefined bits, [62:35] segment, [34:25] thread, [24:3] instruction,
/// [2:0] flags. A segment is one block between two of its synchronisations. Segment numbers grow
/// over all launches of a run; 0 = never.
namespace global_stamp {
inline constexpr uint64_t kUndefined = uint64_t{1} << 63;
inline constexpr int kSegmentShift = 35;
inline constexpr uint32_t kMaxSegment = (1u << 28) - 2;
inline constexpr uint64_t kStrong = 1;
inline constexpr uint64_t kBlockScope = 2;     // writes: strong only among the threads of one block
inline constexpr uint64_t kAtomic = 4;         // writes: by an atomic
inline constexpr uint64_t kManyLanes = 2;      // reads: several lanes of that warp
inline constexpr uint64_t kManyWarps = 4;      // reads: several warps of that block
inline constexpr uint64_t kManyBlocks = 6;     // reads: several blocks
inline constexpr uint64_t kPast = kUndefined;  // reads: all came before the last weak write
inline constexpr uint64_t kSpread = 6;         // mask of the three above

KW_LANE constexpr uint64_t make(uint32_t segment, uint32_t thread, uint32_t pc, uint64_t flags) {
  return (uint64_t{segment} << kSegmentShift) | (uint64_t{thread} << 25) | (uint64_t{pc} << 3) |
         flags;
}
KW_LANE constexpr uint32_t segment(uint64_t s) { return (s & ~kUndefined) >> kSegmentShift; }
KW_LANE constexpr uint32_t thread(uint64_t s) { return (s >> 25) & 1023; }
KW_LANE constexpr uint32_t warp(uint64_t s) { return (s >> 30) & 31; }
KW_LANE constexpr uint32_t pc(uint64_t s) { return (s >> 3) & 0x3fffff; }
}  // namespace global_stamp

}  // namespace kw::vgpu
