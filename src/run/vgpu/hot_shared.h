// Fast path of loads and stores to shared memory. The lanes of a warp usually access a few runs of
// neighbouring words, and a run needs only a few vector comparisons. Returns false for every other
// case; then access_exact() does the access again, exactly. Measured on a 16x16-tiled matmul, which
// has two such loads per multiply-add.
#pragma once

#include "vgpu/hot.h"
#include "vgpu/hot_scan.h"
#include "vgpu/machine.h"
#include "vgpu/readers.h"

namespace kw::vgpu::KW_SIMD_LEVEL {

/// Bounds as stamps: this block wrote [start, ordered) before its last barrier.
struct SharedOrder {
  uint64_t start, ordered, mine;
  uint32_t warp, warp_time;
};

KW_LANE SharedOrder shared_order(Block& block, const Warp& w, uint32_t pc) {
  namespace st = shared_stamp;
  block.dirty = true;
  SharedOrder o;
  o.start = uint64_t{block.start_time} << st::kTimeShift;
  o.ordered = uint64_t{block.barrier_time} << st::kTimeShift;
  o.mine = st::make(block.time, w.index * kLanes, pc, 0);
  o.warp = w.index;
  o.warp_time = block.clocks[w.index][w.index];
  return o;
}

/// Notes one more reader of a unit that was already read in this interval.
KW_LANE void join_readers(uint64_t& first, uint64_t& another, uint64_t mine, const SharedOrder& o) {
  namespace st = shared_stamp;
  first &= ~st::kStrong;  // one plain reader makes the group plain
  if ((first & st::kManyWarps) != 0) return;
  if (st::warp(first) != o.warp) {
    another = mine;
    first |= st::kManyWarps;
  } else if (st::time(first) < o.warp_time) {
    first = mine;
  } else if (st::thread(first) != st::thread(mine)) {
    another = mine;
    first |= st::kManyLanes;
  }
}

KW_LANE uint64_t lane_part(uint32_t unit, int per_lane) {
  return static_cast<uint64_t>(unit >> per_lane) << 26;
}

/// Whether this lane's warp knows of an access since the last barrier: it is the lane's own, or it
/// came before the warp's last synchronisation.
KW_LANE bool known_to_warp(uint64_t stamp, uint64_t mine, const SharedOrder& o) {
  namespace st = shared_stamp;
  if ((stamp & st::kSpecial) != 0 || stamp < o.start || st::warp(stamp) != o.warp) return false;
  return st::time(stamp) < o.warp_time || st::thread(stamp) == st::thread(mine);
}

/// A read of neighbouring units that some lanes of this block have already read in this interval.
KW_LANE void read_again(Block& block, uint32_t unit, uint32_t units, int per_lane, uint64_t mine,
                        const SharedOrder& o) {
  for (uint32_t i = 0; i < units; ++i) {
    const uint64_t now = mine + lane_part(i, per_lane);
    uint64_t& first = block.shared_reads[unit + i];
    if (first < o.ordered)
      first = now;
    else
      join_readers(first, block.shared_readers[unit + i], now, o);
  }
}

/// Reads `units` neighbouring units; lane i of the run covers 2^per_lane of them, or `together`
/// lanes read the same place at once.
KW_LANE bool read_run(Block& block, uint32_t unit, uint32_t units, int per_lane, int lane,
                      int together, const SharedOrder& o) {
  const uint64_t* w = block.shared_writes + unit;
  uint64_t* r = block.shared_reads + unit;
  const ReadScan scan = scan_reads(w, r, units, o.start, o.ordered - o.start, o.ordered);
  const uint64_t mine = o.mine + (static_cast<uint64_t>(lane) << 26);
  for (uint32_t i = 0; scan.bad && i < units; ++i) {
    if (w[i] - o.start >= o.ordered - o.start &&
        !known_to_warp(w[i], mine + lane_part(i, per_lane), o))
      return false;
  }
  if (block.readers != nullptr)
    block.readers->note({mine, unit, static_cast<uint16_t>(units), static_cast<uint8_t>(together),
                         static_cast<uint8_t>(per_lane)});
  if (!scan.apart)
    return true;  // several warps have read all of it in this interval: nothing new to note
  if (scan.again) {
    read_again(block, unit, units, per_lane, mine, o);
  } else {
    for (uint32_t i = 0; i < units; ++i) r[i] = mine + lane_part(i, per_lane);
  }
  if (together > 1) read_again(block, unit, units, per_lane, mine + (uint64_t{1} << 26), o);
  return true;
}

KW_LANE bool write_run(Block& block, uint32_t unit, uint32_t units, int per_lane, int lane,
                       const SharedOrder& o) {
  namespace st = shared_stamp;
  uint64_t* w = block.shared_writes + unit;
  const uint64_t* r = block.shared_reads + unit;
  const uint64_t mine = o.mine + (static_cast<uint64_t>(lane) << 26);
  constexpr uint64_t kThreadBits = uint64_t{1023} << 26;
  uint64_t bad = static_cast<uint64_t>(block.ordered_in_parts);
  for (uint32_t i = 0; i < units; ++i) {
    const uint64_t now = mine + lane_part(i, per_lane);
    const bool foreign_write = ((w[i] ^ now) & (kThreadBits | st::kSpecial)) != 0;
    const bool foreign_read =
        (((r[i] ^ now) & kThreadBits) | (r[i] & (st::kManyLanes | st::kManyWarps))) != 0;
    bad |= static_cast<uint64_t>((w[i] >= o.ordered) & foreign_write);
    bad |= static_cast<uint64_t>((r[i] >= o.ordered) & foreign_read);
  }
  for (uint32_t i = 0; bad != 0 && i < units; ++i) {
    const uint64_t now = mine + lane_part(i, per_lane);
    const bool many = (r[i] & (st::kManyLanes | st::kManyWarps)) != 0;
    const bool old_read =
        st::warp(r[i]) == o.warp && (r[i] & st::kManyWarps) == 0 && st::time(r[i]) < o.warp_time;
    const bool own_read = st::thread(r[i]) == st::thread(now) && !many;
    if (w[i] >= o.ordered && !known_to_warp(w[i], now, o)) return false;
    if (r[i] >= o.ordered && (block.ordered_in_parts || (!old_read && !own_read))) return false;
  }
  for (uint32_t i = 0; i < units; ++i) w[i] = mine + lane_part(i, per_lane);
  return true;
}

template <bool kStore>
KW_LANE bool shared_run(Block& block, const MemOp& op, uint32_t offset, int lane, int lanes,
                        bool same_place, const SharedOrder& o) {
  const int unit_log2 = block.unit_log2;
  const int per_lane = __builtin_ctz(op.total) - unit_log2;
  const uint32_t bytes = same_place ? op.total : op.total * static_cast<uint32_t>(lanes);
  const uint32_t unit = offset >> unit_log2, units = bytes >> unit_log2;
  if (kStore) {
    if (same_place && lanes > 1) return false;
    return write_run(block, unit, units, per_lane, lane, o);
  }
  return read_run(block, unit, units, per_lane, lane, same_place ? lanes : 1, o);
}

/// Splits the lanes into runs and checks each run. A scattered lane is a run of one.
template <bool kStore>
KW_LANE bool shared_runs(Block& block, const MemOp& op, const uint32_t* offsets, uint32_t mask,
                         const SharedOrder& o) {
  uint32_t next = 0, same = 0;
  lane_steps(offsets, op.total, next, same);
  const uint32_t follows = mask & (mask << 1);  // lanes whose neighbour below is active
  next &= follows;
  same &= follows;
  for (uint32_t rest = mask; rest != 0;) {
    const int lane = first_lane(rest);
    const uint32_t above = lane == 31 ? 0 : ~0u << (lane + 1);
    const bool same_place = lane < 31 && ((same >> (lane + 1)) & 1) != 0;
    const uint32_t ends = above & ~(same_place ? same : next);  // first lane that does not continue
    const int end = ends == 0 ? kLanes : first_lane(ends);
    if (!shared_run<kStore>(block, op, offsets[lane], lane, end - lane, same_place, o))
      return false;
    rest &= end == kLanes ? 0 : ~0u << end;
  }
  return true;
}

template <bool kStore, bool kTrack>
KW_LANE bool access_shared(Machine& m, Warp& w, uint32_t pc, const MemOp& op, uint32_t mask,
                           uint64_t window) {
  if (op.order != Order::Weak) return false;
  Block& block = *m.block;
  alignas(64) uint32_t padded[kLanes + 16];
  uint32_t* offsets = padded + 16;
  padded[15] = 0;
  const uint64_t shift = static_cast<uint64_t>(op.offset) - window;
  const uint32_t limit = block.shared_bytes - op.total, low_bits = op.total - 1u;
  uint64_t bad = 0;
  if (op.address64) {
    const U64* address = lanes64(w.regs, op.address);
    for (int i = 0; i < kLanes; ++i) {
      const uint64_t at = address[i] + shift;
      const uint64_t wrong = static_cast<uint64_t>(at > limit) | (at & low_bits);
      bad |= (mask & kLaneBit64[i]) != 0 ? wrong : 0;
      offsets[i] = static_cast<uint32_t>(at);
    }
  } else {
    bad = shared_offsets(lanes32(w.regs, op.address), static_cast<uint32_t>(shift), limit, low_bits,
                         mask, offsets);
  }
  if (bad != 0) return false;
  if (kTrack) {
    const SharedOrder order = shared_order(block, w, pc);
    if (!shared_runs<kStore>(block, op, offsets, mask, order)) return false;
  }
  op.lanes(w.regs, op, block.shared, offsets, mask);
  return true;
}

}  // namespace kw::vgpu::KW_SIMD_LEVEL
