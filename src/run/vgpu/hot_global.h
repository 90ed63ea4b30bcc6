// Fast path of loads and stores to tensors: all lanes inside one region, no conflict with any
// stamp. Returns false for every other case; then access_exact() does the access again, exactly.
#pragma once

#include "vgpu/address.h"
#include "vgpu/hot.h"
#include "vgpu/hot_scan.h"
#include "vgpu/machine.h"
#include "vgpu/ordering.h"
#include "vgpu/readers.h"

namespace kw::vgpu::KW_SIMD_LEVEL {

struct GlobalOrder : OrderedStamps {
  OrderedStamps writes;  // of what may be read; the read-only cache: none of this launch
  bool reads_own_writes;
  uint64_t mine;
  uint64_t foreign;  // stamps in [old, foreign) are always of other blocks
};

KW_LANE GlobalOrder global_order(Machine& m, const Warp& w, uint32_t pc, const MemOp& op) {
  namespace st = global_stamp;
  Block& block = *m.block;
  if (block.segment == 0) open_segment(m);
  block.dirty = true;
  GlobalOrder order;
  order.old = uint64_t{m.launch_segment} << st::kSegmentShift;
  order.low = uint64_t{block.ordered_low} << st::kSegmentShift;
  order.span = block.ordered_high > block.ordered_low
                   ? uint64_t{block.ordered_high - block.ordered_low} << st::kSegmentShift
                   : 0;
  order.writes = {order.old, order.low, op.read_only ? 0 : order.span};
  order.reads_own_writes = !op.read_only;
  order.mine = st::make(block.segment, w.index * kLanes, pc, 0);
  order.foreign = block.activations == 1 ? order.low : order.old;
  return order;
}

/// The lane's own access since the block started or resumed.
KW_LANE bool is_own(uint64_t stamp, uint64_t now, const GlobalOrder& o) {
  return (stamp & global_stamp::kUndefined) == 0 && stamp >= o.low &&
         global_stamp::thread(stamp) == global_stamp::thread(now);
}

/// Second check, for units that this block may have used before. It accepts a lane's own accesses
/// and data that all blocks read. False: an exact check is needed.
KW_LANE bool read_known_units(Machine& m, MemoryRegion& region, uint64_t unit, uint32_t units,
                              int per_lane, uint64_t mine, const GlobalOrder& o) {
  namespace st = global_stamp;
  for (uint32_t i = 0; i < units; ++i) {
    const uint64_t now = stamp_of(mine, i, per_lane);
    const uint64_t written = region.writes != nullptr ? region.writes[unit + i] : 0;
    const bool readable =
        (written != 0 || region.defined) &&
        (is_ordered(written, o.writes) || (o.reads_own_writes && is_own(written, now, o)));
    uint64_t& first = region.reads[unit + i];
    const bool everyone = first >= o.old && (first & st::kSpread) == st::kManyBlocks;
    if (!readable || (first & st::kStrong) != 0) return false;
    if (m.reader_lists != nullptr) {
      note_reader(m, region, unit + i, now);
      continue;
    }
    if (everyone || (is_own(first, now, o) && (first & st::kSpread) != 0)) continue;
    if (is_ordered(first, o) || is_own(first, now, o)) {
      first = now;
    } else if (first >= o.old && first < o.foreign) {
      region.readers[unit + i] = now;
      first |= st::kManyBlocks;
    } else {
      return false;
    }
  }
  return true;
}

/// Stamps `units` units of neighbouring lanes that begin with `lane`; each lane covers 2^per_lane
/// units.
KW_LANE bool read_units(Machine& m, MemoryRegion& region, uint64_t unit, uint32_t units,
                        int per_lane, int lane, const GlobalOrder& o) {
  bool bad = false;
  if (region.writes != nullptr)
    bad = any_unordered(region.writes + unit, units, o.writes, !region.defined);
  else if (!region.defined)
    return false;
  uint64_t* r = region.reads + unit;
  const uint64_t mine = o.mine + (static_cast<uint64_t>(lane) << 25);
  bad = bad || any_unordered(r, units, o, false);
  if (bad) return read_known_units(m, region, unit, units, per_lane, mine, o);
  fill_stamps(r, units, mine, per_lane);
  return true;
}

KW_LANE bool write_units(MemoryRegion& region, uint64_t unit, uint32_t units, int per_lane,
                         int lane, const GlobalOrder& o) {
  const uint64_t mine = o.mine + (static_cast<uint64_t>(lane) << 25);
  uint64_t* w = region.writes + unit;
  const uint64_t* r = region.reads != nullptr ? region.reads + unit : nullptr;
  const bool bad = any_unordered(w, units, o, false) ||
                   (r != nullptr && any_other_reader(r, units, o, mine, per_lane));
  for (uint32_t i = 0; bad && i < units; ++i) {
    const uint64_t now = stamp_of(mine, i, per_lane);
    if (!is_ordered(w[i], o) && !is_own(w[i], now, o)) return false;
    const bool alone = r == nullptr || (r[i] & global_stamp::kSpread) == 0;
    if (r != nullptr && !is_ordered(r[i], o) && !(alone && is_own(r[i], now, o))) return false;
  }
  fill_stamps(w, units, mine, per_lane);
  return true;
}

template <bool kStore>
KW_LANE bool stamp_units(Machine& m, MemoryRegion& region, uint64_t offset, uint32_t bytes,
                         int total_log2, int lane, const GlobalOrder& o) {
  const uint64_t unit = offset >> region.unit_log2;
  const uint32_t units = bytes >> region.unit_log2;
  const int per_lane = total_log2 - region.unit_log2;
  return kStore ? write_units(region, unit, units, per_lane, lane, o)
                : read_units(m, region, unit, units, per_lane, lane, o);
}

/// Whether the region's stamp arrays exist and are fine enough for accesses of `total` bytes.
template <bool kStore>
KW_LANE bool ready(const MemoryRegion& region, int total) {
  if ((1 << region.unit_log2) > total) return false;
  return kStore ? region.writes != nullptr : region.reads != nullptr;
}

template <bool kStore, bool kTrack>
KW_LANE bool global_row(Machine& m, Warp& w, uint32_t pc, const MemOp& op, MemoryRegion& region,
                        uint64_t start, uint32_t mask) {
  const int first = first_lane(mask), last = last_lane(mask);
  const uint64_t low = start + static_cast<uint64_t>(first) * op.total;
  const uint64_t bytes = static_cast<uint64_t>(last - first + 1) * op.total;
  if (low >= region.size || low + bytes > region.size ||
      ((low + region.base) & (op.total - 1)) != 0)
    return false;
  if (kTrack && region.tracked) {
    if (!ready<kStore>(region, op.total)) return false;
    const GlobalOrder order = global_order(m, w, pc, op);
    const int log2 = __builtin_ctz(op.total);
    if (is_range(mask)) {
      if (!stamp_units<kStore>(m, region, low, static_cast<uint32_t>(bytes), log2, first, order))
        return false;
    } else {
      for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const int lane = first_lane(rest);
        const uint64_t at = start + static_cast<uint64_t>(lane) * op.total;
        if (!stamp_units<kStore>(m, region, at, op.total, log2, lane, order)) return false;
      }
    }
  }
  op.row(w.regs, op, region.data + static_cast<int64_t>(start), mask);
  return true;
}

template <bool kStore, bool kTrack>
KW_LANE bool global_lanes(Machine& m, Warp& w, uint32_t pc, const MemOp& op, MemoryRegion& region,
                          const uint64_t* offsets, uint32_t mask) {
  if (region.size < op.total || region.size >> 31 != 0) return false;
  const uint64_t limit = region.size - op.total, low_bits = op.total - 1u;
  alignas(64) uint32_t narrow[kLanes];
  uint64_t bad = 0;
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t wrong =
        static_cast<uint64_t>(offsets[i] > limit) | ((offsets[i] + region.base) & low_bits);
    bad |= (mask & kLaneBit64[i]) != 0 ? wrong : 0;
    narrow[i] = static_cast<uint32_t>(offsets[i]);
  }
  if (bad != 0) return false;
  if (kTrack && region.tracked) {
    if (!ready<kStore>(region, op.total)) return false;
    const GlobalOrder order = global_order(m, w, pc, op);
    const int log2 = __builtin_ctz(op.total);
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = first_lane(rest);
      if (!stamp_units<kStore>(m, region, narrow[lane], op.total, log2, lane, order)) return false;
    }
  }
  op.lanes(w.regs, op, region.data, narrow, mask);
  return true;
}

template <bool kStore, bool kTrack>
KW_LANE bool access_global(Machine& m, Warp& w, uint32_t pc, const MemOp& op, uint32_t mask) {
  if (!op.address64 || op.order != Order::Weak) return false;
  const U64* address = lanes64(w.regs, op.address);
  const uint64_t at = address[first_lane(mask)] + static_cast<uint64_t>(op.offset);
  const uint64_t number = m.map.slot_of(at);
  if (number >= m.region_count) return false;
  MemoryRegion& region = m.regions[number];
  if (kStore ? !region.writable : region.data == nullptr) return false;
  const int first = first_lane(mask);
  const uint64_t back = static_cast<uint64_t>(first) * op.total;
  if (is_row(address, address[first] - back, op.total, mask))
    return global_row<kStore, kTrack>(m, w, pc, op, region, at - region.base - back, mask);
  const uint64_t shift = static_cast<uint64_t>(op.offset) - region.base;
  alignas(64) uint64_t offsets[kLanes];
  for (int i = 0; i < kLanes; ++i) offsets[i] = address[i] + shift;
  return global_lanes<kStore, kTrack>(m, w, pc, op, region, offsets, mask);
}

}  // namespace kw::vgpu::KW_SIMD_LEVEL
