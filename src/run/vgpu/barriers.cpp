// A barrier may be used in ways that CUDA leaves undefined but that hardware accepts: some lanes
// exited, or warps wait at different bar instructions with the same id. Opening only correct
// barriers would end such runs with nothing but a deadlock. So barriers open as on hardware, and
// each undefined use is reported. A warp whose live lanes have all arrived counts as 32 threads, as
// on hardware. open_divergent() is the last step: it joins divergent lanes, and if no barrier opens
// then, the block is stuck. Ordering is exact: a barrier of all threads starts a new interval, a
// named one joins vector clocks.
#include "vgpu/barriers.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "vgpu/collectives.h"
#include "vgpu/ordering.h"
#include "vgpu/pool.h"
#include "vgpu/report.h"
#include "vgpu/slow_ops.h"
#include "vgpu/taint.h"

namespace kw::vgpu {
namespace {

using Kind = BarrierInst::Kind;

uint32_t lane_value(const Warp& w, uint32_t slot, int lane) {
  uint32_t value = 0;
  std::memcpy(&value, w.regs + slot + lane * 4, 4);
  return value;
}

const BarrierInst& barrier_at(const Machine& m, uint32_t pc) {
  return m.launch.code->barriers[m.code[pc].target];
}

void misuse(Machine& m, const Warp& w, uint32_t pc, int lane, const std::string& what) {
  report(m, FindingKind::BarrierMisuse, Certainty::Certain, actor(m, w, lane, pc), {}, std::nullopt,
         [&] { return what; });
}

// Reads the operands of the first lane; all lanes must agree. False: no barrier has such operands.
bool read_operands(Machine& m, const Warp& w, uint32_t pc, uint32_t mask, uint32_t& id,
                   uint32_t& count) {
  const BarrierInst& barrier = barrier_at(m, pc);
  const int first = __builtin_ctz(mask);
  id = lane_value(w, barrier.id, first);
  count = barrier.has_count ? lane_value(w, barrier.count, first) : 0;
  for (uint32_t rest = barrier.uniform ? 0 : mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const bool same = lane_value(w, barrier.id, lane) == id &&
                      (!barrier.has_count || lane_value(w, barrier.count, lane) == count);
    if (!same)
      misuse(m, w, pc, lane, "threads of one warp name different barriers in one instruction");
  }
  if (id > 15) {
    misuse(m, w, pc, first, fmt::format("barrier {} does not exist (ids are 0 to 15)", id));
    return false;
  }
  if (barrier.has_count && (count == 0 || count % kLanes != 0)) {
    misuse(m, w, pc, first,
           fmt::format("a barrier for {} threads: the count must be a multiple of 32", count));
    count = (count + kLanes - 1) / kLanes * kLanes;
    if (count == 0) return false;
  }
  return true;
}

// The number of threads that count as arrived. A warp whose live lanes have all arrived counts as
// 32 threads, as on hardware.
uint32_t arrivals(const ResidentBlock& block, const NamedBarrier& barrier) {
  uint32_t threads = 0;
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    const uint32_t here = barrier.waiting[v] | barrier.passed[v];
    if (here == 0) continue;
    const bool whole = (block.warps[v].live & ~here) == 0;
    threads += whole ? kLanes : static_cast<uint32_t>(__builtin_popcount(here));
  }
  return threads;
}

bool complete(const ResidentBlock& block, const NamedBarrier& barrier) {
  if (barrier.warps == 0) return false;
  if (barrier.expected != 0) return arrivals(block, barrier) >= barrier.expected;
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    if ((block.warps[v].live & ~(barrier.waiting[v] | barrier.passed[v])) != 0) return false;
  }
  return true;
}

// Orders everything that a participant did before it arrived before everything that the waiting
// threads do next.
void order_participants(Machine& m, ResidentBlock& block, const NamedBarrier& barrier) {
  // Exited threads count as waiting at a barrier of the whole block, not at one of some threads.
  bool everyone = true;
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    const bool here = (block.warps[v].live & ~barrier.waiting[v]) == 0;
    everyone = everyone && here && (barrier.expected == 0 || barrier.waiting[v] != 0);
  }
  if (everyone) {
    sync_block(m);
    return;
  }
  block.dirty = block.ordered_in_parts = true;
  const uint32_t now = advance_time(m);
  uint32_t joined[kLanes] = {};
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    if ((barrier.warps >> v & 1) == 0) continue;
    joined[v] = std::max(joined[v], barrier.waiting[v] != 0 ? now : barrier.passed_time[v]);
    for (uint32_t x = 0; x < block.warp_count; ++x)
      joined[x] = std::max(joined[x], block.clocks[v][x]);
  }
  uint32_t waiting = 0;
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    if (barrier.waiting[v] == 0) continue;
    waiting |= 1u << v;
    for (uint32_t x = 0; x < block.warp_count; ++x)
      block.clocks[v][x] = std::max(block.clocks[v][x], joined[x]);
  }
  join_orders(m, barrier.warps, waiting);
}

// An undefined vote leaves the result defined when the other votes alone decide it.
bool undefined_result(const BarrierInst& inst, const NamedBarrier& barrier) {
  if (barrier.unsure == 0 || inst.kind == Kind::Sync) return false;
  const uint32_t votes = barrier.votes - barrier.unsure_votes;
  if (inst.kind == Kind::RedAnd) return votes == barrier.voters - barrier.unsure;
  return inst.kind == Kind::RedPopc || votes == 0;
}

void write_result(Machine& m, Warp& w, const BarrierInst& inst, const NamedBarrier& barrier,
                  uint32_t mask) {
  const bool undefined = undefined_result(inst, barrier);
  if (undefined) begin_taint(m, w, barrier.origin.pc, barrier.origin.region, barrier.origin.offset);
  if (w.tainted && inst.kind != Kind::Sync)
    mark_register(w, {inst.dst, inst.kind == Kind::RedPopc ? 4u : 0u}, mask, undefined);
  const bool truth =
      inst.kind == Kind::RedAnd ? barrier.votes == barrier.voters : barrier.votes != 0;
  if (inst.kind == Kind::RedPopc) {
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
      std::memcpy(w.regs + inst.dst + __builtin_ctz(rest) * 4, &barrier.votes, 4);
  } else if (inst.kind != Kind::Sync) {
    uint32_t value = 0;
    std::memcpy(&value, w.regs + inst.dst, 4);
    value = truth ? value | mask : value & ~mask;
    std::memcpy(w.regs + inst.dst, &value, 4);
  }
}

void report_different_places(Machine& m, const Warp& w, const LaneGroup& group,
                             const NamedBarrier& barrier) {
  const Actor other{m.block->linear, barrier.first_thread, barrier.first_pc};
  const record::Place there = place_of(*m.launch.code, barrier.first_pc);
  // The hardware checks only the number of the barrier; CUDA calls this undefined.
  report(m, FindingKind::DivergentBarrier, Certainty::Warning,
         actor(m, w, __builtin_ctz(group.mask), group.pc), {}, other, [&] {
           return fmt::format(
               "waits at this barrier while other threads of the block wait at the one in line {}",
               there.line);
         });
}

// On hardware, exited threads count as arrived. CUDA requires every thread here, or none.
void report_exited(Machine& m, const NamedBarrier& barrier) {
  const ResidentBlock& block = running(m);
  const Warp* gone = nullptr;
  uint32_t threads = 0;
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    const Warp& warp = block.warps[v];
    if (warp.live == warp.present) continue;
    gone = gone != nullptr ? gone : &warp;
    threads += static_cast<uint32_t>(__builtin_popcount(warp.present & ~warp.live));
  }
  if (gone == nullptr) return;
  report(m, FindingKind::DivergentBarrier, Certainty::Warning,
         {block.linear, barrier.first_thread, barrier.first_pc}, {},
         actor(m, *gone, __builtin_ctz(gone->present & ~gone->live), gone->exit_pc), [&] {
           return fmt::format(
               "waits at a barrier of the whole block, {} of whose {} threads have already exited "
               "without it",
               threads, block.thread_count);
         });
}

void open(Machine& m, uint32_t id) {
  ResidentBlock& block = running(m);
  const NamedBarrier barrier = block.barriers[id];
  block.barriers[id] = NamedBarrier();
  block.awaited &= ~(1u << id);
  if (m.counters == nullptr) {
    order_participants(m, block, barrier);
    if (barrier.expected == 0) report_exited(m, barrier);
    BarrierOpening& opening = block.openings[id];
    opening = {block.time, 0, barrier.first_pc, barrier.first_thread};
    for (uint32_t v = 0; v < block.warp_count; ++v)
      opening.waited |= barrier.waiting[v] != 0 ? 1u << v : 0;
  }
  ++m.progress;
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    Warp& w = block.warps[v];
    if (barrier.waiting[v] == 0) continue;
    for (uint32_t g = 0; g < w.group_count; ++g) {
      LaneGroup& group = w.groups[g];
      if (group.state != GroupState::Arrived || (group.mask & ~barrier.waiting[v]) != 0) continue;
      const BarrierInst& inst = barrier_at(m, group.pc);
      if (group.pc != barrier.first_pc && barrier.expected == 0 && inst.aligned)
        report_different_places(m, w, group, barrier);
      write_result(m, w, inst, barrier, group.mask);
      group.state = GroupState::Runnable;
      ++group.pc;
    }
  }
}

bool open_if_complete(Machine& m, uint32_t id) {
  if (!complete(running(m), running(m).barriers[id])) return false;
  open(m, id);
  return true;
}

// A barrier of some threads only counts them. So a warp that does not know that the barrier has
// opened for others may be counted among those, and either group then continues too early.
void check_partners(Machine& m, const Warp& w, uint32_t pc, uint32_t mask, uint32_t id) {
  const ResidentBlock& block = running(m);
  const BarrierOpening& last = block.openings[id];
  const int first = __builtin_ctz(mask);
  if ((block.barriers[id].passed[w.index] & mask) != 0)
    misuse(m, w, pc, first, fmt::format("arrives twice at barrier {} before it opens", id));
  bool knows = last.time <= block.barrier_time || (last.waited >> w.index & 1) != 0;
  for (uint32_t rest = last.waited; rest != 0 && !knows; rest &= rest - 1)
    knows = block.clocks[w.index][__builtin_ctz(rest)] >= last.time;
  if (knows) return;
  const Actor other{block.linear, last.thread, last.pc};
  report(m, FindingKind::BarrierMisuse, Certainty::Certain, actor(m, w, first, pc), {}, other, [&] {
    return fmt::format(
        "arrives at barrier {}, which {} and other threads use at line {} in no order with it: the "
        "barrier counts threads, so it may open for the wrong ones",
        id, thread_name(thread_id(m.launch, block.linear, last.thread)),
        place_of(*m.launch.code, last.pc).line);
  });
}

// Adds the lanes to the barrier. The caller puts them into a group, or lets them pass.
void join(Machine& m, Warp& w, uint32_t pc, uint32_t mask, uint32_t id, uint32_t count) {
  ResidentBlock& block = running(m);
  const BarrierInst& inst = barrier_at(m, pc);
  NamedBarrier& barrier = block.barriers[id];
  const int first = __builtin_ctz(mask);
  if (count != 0 && m.counters == nullptr) check_partners(m, w, pc, mask, id);
  if (barrier.warps == 0) {
    barrier.expected = count;
    barrier.first_pc = pc;
    barrier.first_thread = w.index * kLanes + static_cast<uint32_t>(first);
  } else if (barrier.expected != count) {
    misuse(m, w, pc, first,
           fmt::format("waits for {} threads at barrier {}, others of its block for {} (0: all)",
                       count, id, barrier.expected));
  }
  barrier.warps |= 1u << w.index;
  block.awaited |= 1u << id;
  if (inst.kind == Kind::Arrive) {
    barrier.passed[w.index] |= mask;
    if (m.counters == nullptr) {
      barrier.passed_time[w.index] = advance_time(m);
      block.clocks[w.index][w.index] = std::max(block.clocks[w.index][w.index], block.barrier_time);
    }
  } else {
    barrier.waiting[w.index] |= mask;
  }
  if (inst.kind == Kind::Sync || inst.kind == Kind::Arrive) return;
  uint32_t truth = 0;
  std::memcpy(&truth, w.regs + inst.predicate, 4);
  if (inst.negate) truth = ~truth;
  barrier.votes += static_cast<uint32_t>(__builtin_popcount(truth & mask));
  barrier.voters += static_cast<uint32_t>(__builtin_popcount(mask));
  uint32_t unsure = 0;
  if (w.tainted) std::memcpy(&unsure, w.shadow + inst.predicate, 4);
  unsure &= mask;
  if (unsure == 0) return;
  barrier.unsure += static_cast<uint32_t>(__builtin_popcount(unsure));
  barrier.unsure_votes += static_cast<uint32_t>(__builtin_popcount(truth & unsure));
  barrier.origin = w.origin;
}

// Finds lanes that wait for the rest of their warp at an aligned barrier while the rest waits at
// another place.
bool settle_divergence(Machine& m) {
  ResidentBlock& block = running(m);
  bool moved = false;
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    Warp& w = block.warps[v];
    for (uint32_t g = 0; g < w.group_count; ++g) {
      LaneGroup& group = w.groups[g];
      if (group.state != GroupState::Barrier) continue;
      const uint32_t elsewhere = w.live & ~group.mask;
      for (uint32_t h = 0; h < w.group_count && elsewhere != 0; ++h) {
        if (h == g) continue;
        const LaneGroup& rest = w.groups[h];
        const record::Place there = place_of(*m.launch.code, rest.pc);
        report(m, FindingKind::DivergentBarrier, Certainty::Certain,
               actor(m, w, __builtin_ctz(group.mask), group.pc), {},
               actor(m, w, __builtin_ctz(rest.mask), rest.pc), [&] {
                 return fmt::format(
                     "waits at a barrier that {} of the {} threads of its warp do not reach (they "
                     "are at line {})",
                     __builtin_popcount(elsewhere), __builtin_popcount(w.live), there.line);
               });
        break;
      }
      uint32_t id = 0, count = 0;
      group.state = GroupState::Arrived;
      if (read_operands(m, w, group.pc, group.mask, id, count))
        join(m, w, group.pc, group.mask, id, count);
      moved = true;
    }
  }
  return moved;
}

void report_stuck(Machine& m) {
  ResidentBlock& block = running(m);
  const LaneGroup* waiting = nullptr;
  const Warp* waiter = nullptr;
  uint32_t waiting_threads = 0, live = 0;
  for (uint32_t v = 0; v < block.warp_count; ++v) {
    const Warp& w = block.warps[v];
    live += static_cast<uint32_t>(__builtin_popcount(w.live));
    for (uint32_t g = 0; g < w.group_count; ++g) {
      if (w.groups[g].state == GroupState::Collective) {
        report_collective_deadlock(m, w, w.groups[g]);
        return;
      }
      waiting_threads += static_cast<uint32_t>(__builtin_popcount(w.groups[g].mask));
      if (waiting == nullptr) waiting = &w.groups[g], waiter = &w;
    }
  }
  if (waiting == nullptr) return;
  std::optional<Actor> other;
  for (uint32_t v = 0; v < block.warp_count && !other; ++v) {
    for (uint32_t g = 0; g < block.warps[v].group_count; ++g) {
      const LaneGroup& group = block.warps[v].groups[g];
      if (group.pc != waiting->pc)
        other = actor(m, block.warps[v], __builtin_ctz(group.mask), group.pc);
    }
  }
  report_fatal(m, FindingKind::DivergentBarrier,
               actor(m, *waiter, __builtin_ctz(waiting->mask), waiting->pc), other, [&] {
                 return fmt::format(
                     "the barrier never opens: {} of the {} live threads of the block wait, at {}",
                     waiting_threads, live,
                     other ? "different barriers" : "a barrier that expects more threads");
               });
}

}  // namespace

GroupState arrive(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  uint32_t id = 0, count = 0;
  const BarrierInst& inst = barrier_at(m, pc);
  if (inst.aligned && mask != w.live) return GroupState::Barrier;
  if (!read_operands(m, w, pc, mask, id, count)) return GroupState::Runnable;
  if (count != 0) open_if_complete(m, id);  // this warp is one more than it waits for
  join(m, w, pc, mask, id, count);
  if (inst.kind == Kind::Arrive) {
    open_if_complete(m, id);
    return GroupState::Runnable;
  }
  return GroupState::Arrived;
}

void exit_lanes(Machine& m, Warp&) { open_ready(m); }

bool open_ready(Machine& m) {
  bool opened = false;
  for (uint32_t rest = running(m).awaited; rest != 0; rest &= rest - 1)
    opened = open_if_complete(m, static_cast<uint32_t>(__builtin_ctz(rest))) || opened;
  return opened;
}

bool open_divergent(Machine& m) {
  if (open_ready(m)) return true;
  if (settle_divergence(m) && open_ready(m)) return true;
  if (!m.stop) report_stuck(m);
  m.stop = true;
  return false;
}

}  // namespace kw::vgpu
