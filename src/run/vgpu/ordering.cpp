// Decides whether one access is ordered before another. Inside a block each warp has a vector clock
// over the other warps; each synchronisation advances a block time, and every access is stamped
// with it. Full clocks per thread would need 1024 x 1024 entries. So lanes get clocks only after
// some of them synchronised without the others. A fence of a warp covers what that warp knows: its
// own accesses, and those of warps that it met at a barrier. A fence of some lanes covers only
// these lanes' own accesses since the warp last synchronised. A strong write then publishes what
// was fenced. Inside the block a strong read acquires all of it; between blocks an atomic or an
// acquire does, and a volatile or relaxed load only with a fence after it. The address is ignored,
// which is more than CUDA guarantees: it may miss a race but never invents one. When history
// exceeds its limits, accesses count as ordered, for the same reason.
#include "vgpu/ordering.h"

#include <algorithm>
#include <memory>

#include "vgpu/handovers.h"
#include "vgpu/machine.h"
#include "vgpu/pool.h"
#include "vgpu/races.h"

namespace kw::vgpu {
namespace {

constexpr size_t kMaxSegments = size_t{1} << 26;
constexpr size_t kMaxReleases = size_t{1} << 16;  // per block

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
  std::fill(&block.clocks[0][0], &block.clocks[0][0] + kLanes * kLanes, 0);
  for (Warp& warp : block.warp_storage) warp.lane_clocks = nullptr;
  block.start_time = 1;
  block.time = block.barrier_time = 2;
  block.order.reset();
  std::fill(std::begin(block.openings), std::end(block.openings), BarrierOpening());
}

// Makes room by joining neighbours. A joined release covers as much as the later one, from the time
// of the earlier one. Some unordered accesses then count as ordered, never the reverse.
void join_releases(BlockSync::Releases& releases) {
  for (size_t i = 0; i < releases.size() / 2; ++i)
    releases[i] = {releases[2 * i + 1].covers, releases[2 * i].at};
  releases.resize(releases.size() / 2);
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

MemoryOrder& order_of(ResidentBlock& block) {
  if (block.order == nullptr) block.order = std::make_unique<MemoryOrder>();
  return *block.order;
}

// Accesses of warp v stamped earlier are ordered before the next access of warp w.
uint32_t known(const Block& block, uint32_t w, uint32_t v) {
  return std::max(block.barrier_time, block.clocks[w][v]);
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

void push(BlockSync::Releases& releases, uint32_t covers, uint64_t at) {
  if (!releases.empty() && releases.back().covers >= covers) return;
  if (releases.size() >= kMaxReleases) join_releases(releases);
  releases.push_back({covers, at});
}

// Notes for other blocks what these lanes have fenced so far.
void publish_to_blocks(Machine& m, const ResidentBlock& block, uint32_t w, uint32_t lanes) {
  const MemoryOrder& order = *block.order;
  const uint32_t* fenced = order.fenced[1][w];
  const uint32_t least = *std::min_element(fenced, fenced + block.warp_count);
  BlockSync& sync = m.syncs[static_cast<uint32_t>(block.linear)];
  const uint64_t at = m.sync_time++;
  if (least > block.start_time) push(sync.of_all, least, at);
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    if (fenced[v] > least) push(sync.of_warps[v], fenced[v], at);
  }
  if ((order.lone_warps >> w & 1) == 0) return;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
    const uint32_t own = order.alone[1][w][lane];
    if (own > fenced[w]) push(sync.of_threads[w * kLanes + lane], own, at);
  }
}

// The number of the first release that covers an access at this time; 0: none does.
uint64_t first_release(const BlockSync::Releases& releases, uint32_t time) {
  const auto first = std::ranges::upper_bound(releases, time, {}, &BlockSync::Release::covers);
  return first != releases.end() ? first->at : 0;
}

uint64_t first_release(const Machine& m, uint32_t segment, uint32_t thread) {
  const Segment& other = m.segments[segment - m.launch_segment];
  const auto theirs = m.syncs.find(other.block);
  if (theirs == m.syncs.end()) return 0;
  const BlockSync& sync = theirs->second;
  uint64_t first = first_release(sync.of_all, other.time);
  const auto consider = [&](const auto& lists, uint32_t key) {
    const auto list = lists.find(key);
    const uint64_t at = list == lists.end() ? 0 : first_release(list->second, other.time);
    if (at != 0 && (first == 0 || at < first)) first = at;
  };
  consider(sync.of_warps, thread / kLanes);
  consider(sync.of_threads, thread);
  return first;
}

}  // namespace

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
  if (MemoryOrder* order = running(m).order.get()) join_lanes(*order, warp.index);
  if ((warp.live & ~lanes) == 0) {
    m.block->clocks[warp.index][warp.index] = now;
    return;
  }
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
  block.ordered_high = m.next_segment;
  const uint32_t all = block.warp_count == kLanes ? ~0u : (1u << block.warp_count) - 1;
  join_orders(m, all, all);
  if (block.order != nullptr) block.order->changed = false;
}

void join_orders(Machine& m, uint32_t arrived, uint32_t waiting) {
  ResidentBlock& block = running(m);
  if (m.sync_time > 1) {  // else there is no release to know of
    uint64_t acquired = 0, seen = 0;
    for (uint32_t rest = arrived; rest != 0; rest &= rest - 1) {
      acquired = std::max(acquired, block.acquired[__builtin_ctz(rest)]);
      seen = std::max(seen, block.seen[__builtin_ctz(rest)]);
    }
    for (uint32_t rest = waiting; rest != 0; rest &= rest - 1) {
      uint64_t& own = block.acquired[__builtin_ctz(rest)];
      own = std::max(own, acquired);
      block.seen[__builtin_ctz(rest)] = std::max(block.seen[__builtin_ctz(rest)], seen);
    }
  }
  if (block.order == nullptr || !block.order->changed) return;
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
  order.fresh |= waiting;
}

void fence(Machine& m, Warp& warp, uint32_t lanes, MemoryScope scope) {
  ResidentBlock& block = running(m);
  MemoryOrder& order = order_of(block);
  const uint32_t now = advance_time(m), w = warp.index;
  // Lanes that synchronised in parts have clocks of their own; then the fence counts for all.
  const bool together = (warp.live & ~lanes) == 0 || warp.lane_clocks != nullptr;
  for (int s = 0; s < (scope == MemoryScope::Device ? 2 : 1); ++s) {
    for (uint32_t v = 0; v < block.warp_count; ++v) {
      uint32_t& fenced = order.fenced[s][w][v];
      fenced = std::max(fenced, v == w && together ? now : known(block, w, v));
    }
    for (uint32_t rest = together ? 0 : lanes; rest != 0; rest &= rest - 1)
      order.alone[s][w][__builtin_ctz(rest)] = now;
  }
  if (!together) order.lone_warps |= 1u << w;
  order.fresh |= 1u << w;
  order.changed = true;
  if (scope == MemoryScope::Block) return;
  block.acquired[w] = std::max(block.acquired[w], block.seen[w]);
  if (m.handovers != nullptr) m.handovers->fenced(m);
}

void publish(Machine& m, Warp& warp, uint32_t lanes, const MemOp& op) {
  ResidentBlock& block = running(m);
  if (op.order == Order::Release || op.order == Order::AcquireRelease)
    fence(m, warp, lanes, op.scope);
  const uint32_t w = warp.index;
  if (block.order == nullptr || ((block.order->fresh | block.order->lone_warps) >> w & 1) == 0)
    return;
  MemoryOrder& order = *block.order;
  for (int s = 0; s < 2; ++s) {
    for (uint32_t v = 0; v < block.warp_count; ++v)
      order.released[s][v] = std::max(order.released[s][v], order.fenced[s][w][v]);
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
      order.released[s][w] = std::max(order.released[s][w], order.alone[s][w][__builtin_ctz(rest)]);
  }
  if (op.scope == MemoryScope::Block) return;
  publish_to_blocks(m, block, w, lanes);
  order.fresh &= ~(1u << w);
}

void acquire(Machine& m, Warp& warp, const MemOp& op, AccessKind kind) {
  ResidentBlock& block = running(m);
  const uint32_t w = warp.index;
  if (op.scope == MemoryScope::Device && m.sync_time > 1) {
    block.seen[w] = m.sync_time;
    if (kind == AccessKind::Atomic || op.order != Order::Strong) block.acquired[w] = m.sync_time;
  }
  if (block.order == nullptr) return;
  MemoryOrder& order = *block.order;
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    block.clocks[w][v] = std::max(block.clocks[w][v], order.released[0][v]);
    uint32_t& fenced = order.fenced[1][w][v];
    if (v == w || fenced >= order.released[1][v]) continue;
    fenced = order.released[1][v];
    order.fresh |= 1u << w;
    order.changed = true;
  }
}

bool ordered_in_block(const Block& block, const Warp& by, int lane, uint32_t thread,
                      uint32_t time) {
  const uint32_t warp = thread / kLanes;
  if (time < std::max(block.barrier_time, block.clocks[by.index][warp])) return true;
  return warp == by.index && by.lane_clocks != nullptr &&
         time < by.lane_clocks->at[lane][thread % kLanes];
}

bool ordered_between_blocks(const Machine& m, const Warp& by, uint32_t segment, uint32_t thread) {
  const uint64_t at = first_release(m, segment, thread);
  return at != 0 && at < static_cast<const ResidentBlock&>(*m.block).acquired[by.index];
}

bool published(const Machine& m, uint32_t segment, uint32_t thread) {
  return first_release(m, segment, thread) != 0;
}

}  // namespace kw::vgpu
