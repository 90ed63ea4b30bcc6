// Decides whether one access is ordered before another. Inside a block each warp has a vector clock
// over the other warps; each synchronisation advances a block time, and every access is stamped
// with it. Full clocks per thread would need 1024 x 1024 entries. So lanes get clocks only after
// some of them synchronised without the others. A fence of a warp covers what that warp knows: its
// own accesses, and those of warps that it met at a barrier. A fence of some lanes covers only
// these lanes' own accesses since the warp last synchronised. What fences and flags pass on is in
// releases.cpp. When history exceeds its limits, accesses count as ordered: that may miss a race
// but never invents one.
#include "vgpu/ordering.h"

#include <algorithm>
#include <memory>

#include "vgpu/machine.h"
#include "vgpu/pool.h"
#include "vgpu/races.h"

namespace kw::vgpu {
namespace {

constexpr size_t kMaxSegments = size_t{1} << 26;

// The block's clock reached its limit between two barriers. Forgets who accessed what, keeps which
// units are initialised.
void restart_clock(ResidentBlock& block) {
  namespace st = shared_stamp;
  const uint32_t units = block.shared_bytes >> block.unit_log2;
  for (uint32_t u = 0; u < units; ++u) {
    uint64_t& stamp = block.shared_writes[u];
    if (stamp == st::kRedZone) continue;
    const uint64_t undefined = stamp & st::kSpecial;
    stamp = st::time(stamp) >= block.start_time ? undefined | st::make(1, 0, 0, 0) : 0;
  }
  std::fill(block.shared_reads, block.shared_reads + size_t{units}, 0);
  forget_order(block);
  block.refresh_time = 0;
  std::fill(&block.clocks[0][0], &block.clocks[0][0] + kLanes * kLanes, 0);
  for (Warp& warp : block.warp_storage) warp.lane_clocks = nullptr;
  block.start_time = 1;
  block.time = block.barrier_time = 2;
  block.order.reset();
  std::fill(std::begin(block.openings), std::end(block.openings), BarrierOpening());
}

// Made only for warps in which some lanes have synchronised without the others.
LaneClocks& lane_clocks(ResidentBlock& block, Warp& warp) {
  if (warp.lane_clocks != nullptr) return *warp.lane_clocks;
  block.lane_clocks.resize(block.warp_count);
  std::unique_ptr<LaneClocks>& own = block.lane_clocks[warp.index];
  if (own == nullptr) own = std::make_unique<LaneClocks>();
  *own = {};
  warp.lane_clocks = own.get();
  return *own;
}

// The lanes of the warp have met: what one of them fenced counts for all.
void join_lanes(MemoryOrder& order, uint32_t w) {
  if ((order.lone_warps >> w & 1) == 0) return;
  order.lone_warps &= ~(1u << w);
  order.fresh |= 1u << w;
  for (int scope = 0; scope < 2; ++scope) {
    uint32_t(&own)[kLanes] = order.alone[scope][w];
    uint32_t& fenced = order.fenced[scope][w][w];
    fenced = std::max(fenced, *std::max_element(own, own + kLanes));
    std::fill(own, own + kLanes, 0);
  }
}

}  // namespace

void forget_order(ResidentBlock& block) {
  block.ordered_in_parts = false;
  if (block.readers != nullptr) block.readers->clear();
}

void open_segment(Machine& m) {
  Block& block = *m.block;
  if (m.segments.size() < kMaxSegments && m.next_segment < global_stamp::kMaxSegment) {
    m.segments.push_back({static_cast<uint32_t>(block.linear), block.time});
    block.segment = m.next_segment++;
  } else {
    // The history is full: from here on, this block's accesses count as ordered.
    block.segment = m.launch_segment > 1 ? m.launch_segment - 1 : 1;
  }
}

uint32_t advance_time(Machine& m) {
  ResidentBlock& block = running(m);
  if (!block.dirty) return block.time;
  block.dirty = false;
  block.segment = 0;
  if (++block.time >= shared_stamp::kMaxTime) restart_clock(block);
  return block.time;
}

void sync_warp(Machine& m, Warp& warp, uint32_t lanes) {
  const uint32_t now = advance_time(m);
  if (MemoryOrder* order = running(m).order.get()) {
    join_lanes(*order, warp.index);
    meet(running(m), warp.index, lanes);
  }
  if ((warp.live & ~lanes) == 0) {
    m.block->clocks[warp.index][warp.index] = now;
    return;
  }
  m.block->ordered_in_parts = true;
  // Some lanes only: each of them now knows what any of them knew. The other lanes learn nothing.
  LaneClocks& clocks = lane_clocks(running(m), warp);
  uint32_t joined[kLanes] = {};
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const uint32_t* known = clocks.at[__builtin_ctz(rest)];
    for (int x = 0; x < kLanes; ++x) joined[x] = std::max(joined[x], known[x]);
  }
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) joined[__builtin_ctz(rest)] = now;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
    std::copy(joined, joined + kLanes, clocks.at[__builtin_ctz(rest)]);
}

void sync_block(Machine& m) {
  ResidentBlock& block = running(m);
  block.dirty = true;  // a barrier always starts a new interval
  block.barrier_time = advance_time(m);
  forget_order(block);
  block.ordered_high = m.next_segment;
  const uint32_t all = block.warp_count == kLanes ? ~0u : (1u << block.warp_count) - 1;
  join_orders(m, all, all);
  if (block.order != nullptr) block.order->changed = false;
}

void join_orders(Machine& m, uint32_t arrived, uint32_t waiting) {
  ResidentBlock& block = running(m);
  if (block.order == nullptr) return;
  for (uint32_t rest = arrived; rest != 0; rest &= rest - 1)
    meet(block, static_cast<uint32_t>(__builtin_ctz(rest)), ~0u);
  hand_over(*block.order, arrived, waiting);
  if (!block.order->changed) return;
  MemoryOrder& order = *block.order;
  for (uint32_t rest = arrived; rest != 0; rest &= rest - 1)
    join_lanes(order, static_cast<uint32_t>(__builtin_ctz(rest)));
  for (auto& fenced : order.fenced) {
    uint32_t joined[kLanes] = {};
    for (uint32_t rest = arrived; rest != 0; rest &= rest - 1) {
      const uint32_t* theirs = fenced[__builtin_ctz(rest)];
      for (int v = 0; v < kLanes; ++v) joined[v] = std::max(joined[v], theirs[v]);
    }
    for (uint32_t rest = waiting; rest != 0; rest &= rest - 1) {
      uint32_t* own = fenced[__builtin_ctz(rest)];
      for (int v = 0; v < kLanes; ++v) own[v] = std::max(own[v], joined[v]);
    }
  }
  order.fencers |= waiting;
  order.fresh |= waiting;
}

bool ordered_in_block(const Block& block, const Warp& by, int lane, uint32_t thread,
                      uint32_t time) {
  const uint32_t warp = thread / kLanes;
  if (time < std::max(block.barrier_time, block.clocks[by.index][warp])) return true;
  if (warp == by.index && by.lane_clocks != nullptr &&
      time < by.lane_clocks->at[lane][thread % kLanes])
    return true;
  return knows(static_cast<const ResidentBlock&>(block), by, lane,
               static_cast<uint32_t>(block.linear), thread, time, false);
}

bool ordered_between_blocks(const Machine& m, const Warp& by, int lane, uint32_t segment,
                            uint32_t thread) {
  const Segment& other = m.segments[segment - m.launch_segment];
  return knows(static_cast<const ResidentBlock&>(*m.block), by, lane, other.block, thread,
               other.time, false);
}

bool seen_by(const Machine& m, const Warp& by, int lane, uint32_t block, uint32_t thread,
             uint32_t time) {
  return knows(static_cast<const ResidentBlock&>(*m.block), by, lane, block, thread, time, true);
}

}  // namespace kw::vgpu
