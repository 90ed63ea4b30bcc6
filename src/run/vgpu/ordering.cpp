// Decides whether one access is ordered before another. Inside a block each warp has a vector clock
// over the other warps; each synchronisation advances a block time, and every access is stamped
// with it. Full clocks per thread would need 1024 x 1024 entries. So lanes get clocks only after
// some of them synchronised without the others. Between blocks, a fence and a strong write publish;
// a strong read acquires everything published so far. That is more than CUDA guarantees, since the
// address is ignored: it may miss a race but never invents one. When history exceeds its limits,
// accesses count as ordered, for the same reason.
#include "vgpu/ordering.h"

#include <algorithm>
#include <memory>

#include "vgpu/handovers.h"
#include "vgpu/machine.h"
#include "vgpu/pool.h"

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
  block.fence_time = block.device_fence_time = 0;
  block.released_time = block.device_released_time = 0;
}

// Makes room by joining neighbours. A joined release covers as much as the later one, from the time
// of the earlier one. Some unordered accesses then count as ordered, never the reverse.
void join_releases(std::vector<BlockSync::Release>& releases) {
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
  Block& block = *m.block;
  block.dirty = true;  // a barrier always starts a new interval
  block.barrier_time = advance_time(m);
  block.ordered_high = m.next_segment;
}

void fence(Machine& m, MemoryScope scope) {
  ResidentBlock& block = running(m);
  block.fence_time = advance_time(m);
  if (scope == MemoryScope::Block) return;
  block.device_fence_time = block.fence_time;
  if (m.handovers != nullptr) m.handovers->fenced(m);
}

void publish(Machine& m, const MemOp& op) {
  ResidentBlock& block = running(m);
  if (op.order == Order::Release || op.order == Order::AcquireRelease) fence(m, op.scope);
  block.released_time = std::max(block.released_time, block.fence_time);
  if (op.scope == MemoryScope::Block || block.device_fence_time <= block.device_released_time)
    return;
  block.device_released_time = block.device_fence_time;
  BlockSync& sync = m.syncs[static_cast<uint32_t>(block.linear)];
  if (sync.releases.size() >= kMaxReleases) join_releases(sync.releases);
  sync.releases.push_back({block.device_fence_time, m.sync_time++});
}

void acquire(Machine& m, Warp& warp, const MemOp& op) {
  ResidentBlock& block = running(m);
  if (op.scope == MemoryScope::Device)
    m.syncs[static_cast<uint32_t>(block.linear)].acquired = m.sync_time;
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    uint32_t& clock = block.clocks[warp.index][v];
    clock = std::max(clock, block.released_time);
  }
}

void forget_acquires(Machine& m, const Block& block) {
  const auto found = m.syncs.find(static_cast<uint32_t>(block.linear));
  if (found != m.syncs.end() && found->second.releases.empty()) m.syncs.erase(found);
}

bool ordered_in_block(const Block& block, const Warp& by, int lane, uint32_t thread,
                      uint32_t time) {
  const uint32_t warp = thread / kLanes;
  if (time < std::max(block.barrier_time, block.clocks[by.index][warp])) return true;
  return warp == by.index && by.lane_clocks != nullptr &&
         time < by.lane_clocks->at[lane][thread % kLanes];
}

bool ordered_between_blocks(const Machine& m, uint32_t segment) {
  const Segment& other = m.segments[segment - m.launch_segment];
  const auto theirs = m.syncs.find(other.block);
  const auto ours = m.syncs.find(static_cast<uint32_t>(m.block->linear));
  if (theirs == m.syncs.end() || ours == m.syncs.end()) return false;
  const auto& releases = theirs->second.releases;  // both fields grow along the list
  const auto first =
      std::ranges::upper_bound(releases, other.time, {}, &BlockSync::Release::covers);
  return first != releases.end() && first->at < ours->second.acquired;
}

bool published(const Machine& m, uint32_t segment) {
  const Segment& other = m.segments[segment - m.launch_segment];
  const auto theirs = m.syncs.find(other.block);
  return theirs != m.syncs.end() && !theirs->second.releases.empty() &&
         theirs->second.releases.back().covers > other.time;
}

}  // namespace kw::vgpu
