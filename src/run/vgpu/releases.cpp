// Releases and acquires through memory. A fence covers what its threads know; a strong write by
// them then makes its place a flag, which holds all that was fenced. An atomic adds to what the
// flag held, a store replaces it. A thread that reads the flag has seen this and knows it after a
// fence of its own, or at once if the read itself acquires. So nothing is learned from other flags,
// nor by other lanes before they meet. When there are too many flags, accesses through further ones
// count as ordered through one common flag: that may miss a race but never invents one.
#include <algorithm>

#include "vgpu/address.h"
#include "vgpu/handovers.h"
#include "vgpu/machine.h"
#include "vgpu/memory_order.h"
#include "vgpu/ordering.h"
#include "vgpu/pool.h"
#include "vgpu/races.h"
#include "vgpu/resolve.h"

namespace kw::vgpu {
namespace {

constexpr size_t kMaxFlags = size_t{1} << 20;
constexpr uint64_t kCommonPlace = ~uint64_t{0};
constexpr uint32_t kPlaceLog2 = 2;  // neighbouring bytes share a flag

MemoryOrder& order_of(ResidentBlock& block) {
  if (block.order == nullptr) block.order = std::make_unique<MemoryOrder>();
  return *block.order;
}

/// A place in memory: shared places are numbered by offset, others by address.
struct FlagPlace {
  uint64_t number = 0;
  bool shared = false;
};

FlagPlace flag_place(const Machine& m, uint64_t address, bool shared) {
  if (!shared && m.map.is_shared(address)) {
    shared = true;
    address -= m.map.window(kSharedRegion);
  }
  return {address >> kPlaceLog2, shared};
}

using Flags = std::unordered_map<uint64_t, Flag>;

Flag* find_flag(Flags& flags, uint64_t number) {
  auto found = flags.find(number);
  if (found == flags.end() && flags.size() >= kMaxFlags) found = flags.find(kCommonPlace);
  return found == flags.end() ? nullptr : &found->second;
}

Flag& make_flag(Flags& flags, uint64_t number) {
  if (flags.size() >= kMaxFlags && !flags.contains(number)) number = kCommonPlace;
  return flags[number];
}

Party& party_of_lane(WarpParties& warp, int lane) {
  if (warp.lanes == nullptr) warp.lanes = std::make_unique<Party[]>(kLanes);
  if ((warp.apart >> lane & 1) == 0) warp.lanes[lane] = Party();
  warp.apart |= 1u << lane;
  return warp.lanes[lane];
}

template <class Do>
void each(uint32_t lanes, const Do& act) {
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) act(__builtin_ctz(rest));
}

// What a lane has fenced: what it knew of other threads, and the accesses of its own block.
Known released_by(const ResidentBlock& block, uint32_t w, int lane, int scope) {
  const MemoryOrder& order = *block.order;
  const WarpParties& mine = order.parties[w];
  Known out = mine.all.fenced[scope];
  if ((mine.apart >> lane & 1) != 0) out.join(mine.lanes[lane].fenced[scope]);
  const uint32_t* fenced = order.fenced[scope][w];
  BlockCovers own;
  own.all = *std::min_element(fenced, fenced + block.warp_count);
  for (uint32_t v = 0; v < block.warp_count; ++v) own.add(v, fenced[v]);
  own.add(kLanes + w * kLanes + static_cast<uint32_t>(lane), order.alone[scope][w][lane]);
  out.join(static_cast<uint32_t>(block.linear), own);
  return out;
}

// One release per scope. It is the same for all lanes unless some have fenced or learned alone.
void refresh(const ResidentBlock& block, uint32_t w, int lane, Known (&out)[2]) {
  MemoryOrder& order = *block.order;
  WarpParties& mine = order.parties[w];
  const bool common = mine.apart == 0 && (order.lone_warps >> w & 1) == 0;
  if (!common || (order.fresh >> w & 1) != 0) {
    for (int s = 0; s < 2; ++s) out[s] = released_by(block, w, lane, s);
    if (!common) return;
    for (int s = 0; s < 2; ++s) mine.released[s] = out[s];
    order.fresh &= ~(1u << w);
  }
  for (int s = 0; s < 2; ++s) out[s] = mine.released[s];
}

/// One strong write of a warp, lane by lane.
class Publication {
 public:
  Publication(Machine& m, Warp& warp, const MemOp& op, bool replaces)
      : m_(m), block_(running(m)), warp_(warp), op_(op), replaces_(replaces && op.total >= 4) {
    fenced_ = block_.order != nullptr && (block_.order->fencers >> warp.index & 1) != 0;
  }

  void write(int lane, bool again) {
    const uint64_t address = lane_address(warp_, op_, lane);
    Known released[2];
    if (fenced_) refresh(block_, warp_.index, lane, released);
    for (uint64_t at = address & ~uint64_t{3}; at < address + op_.total; at += 4)
      write(flag_place(m_, at, op_.space == ptx::Space::Shared), released, again);
  }

 private:
  void write(const FlagPlace& place, const Known (&released)[2], bool again) {
    Flags* flags = &m_.flags;
    if (place.shared) {
      if (block_.order == nullptr) return;
      flags = &block_.order->flags;
    } else if (m_.map.region_of(place.number << kPlaceLog2) >= m_.region_count) {
      return;
    }
    const bool replaces = replaces_ && !again;
    if (!fenced_) {
      Flag* flag = find_flag(*flags, place.number);
      if (flag == nullptr) return;
      flag->version = ++m_.releases;
      if (replaces && flags->size() < kMaxFlags) flags->erase(place.number);
      return;
    }
    Flag& flag = make_flag(*flags, place.number);
    const auto block = static_cast<uint32_t>(block_.linear);
    if (replaces && flags->size() < kMaxFlags) {
      flag.in_block = flag.device = Known();
    } else if (flag.block != block) {
      flag.in_block = flag.device;
    }
    flag.block = block;
    flag.in_block.join(released[0]);
    if (op_.scope == MemoryScope::Device) {
      flag.in_block.join(released[1]);
      flag.device.join(released[1]);
    }
    flag.version = ++m_.releases;
    block_.order->saw[place.number << 1 | (place.shared ? 1 : 0)] = flag.version;
  }

  Machine& m_;
  ResidentBlock& block_;
  Warp& warp_;
  const MemOp& op_;
  bool replaces_, fenced_;
};

bool same_address(const Warp& warp, uint32_t lanes, const MemOp& op) {
  const uint64_t first = lane_address(warp, op, __builtin_ctz(lanes));
  bool same = true;
  each(lanes, [&](int lane) { same = same && lane_address(warp, op, lane) == first; });
  return same;
}

// What the reader learns from the flags under its access.
void look(Machine& m, ResidentBlock& block, const MemOp& op, uint64_t address, Known (&out)[2]) {
  for (uint64_t at = address & ~uint64_t{3}; at < address + op.total; at += 4) {
    const FlagPlace place = flag_place(m, at, op.space == ptx::Space::Shared);
    if (place.shared && block.order == nullptr) continue;
    Flag* flag = find_flag(place.shared ? block.order->flags : m.flags, place.number);
    if (flag == nullptr) continue;
    order_of(block).saw[place.number << 1 | (place.shared ? 1 : 0)] = flag->version;
    if (flag->block == block.linear)
      out[0].join(flag->in_block);
    else if (op.scope == MemoryScope::Device)
      out[1].join(flag->device);
  }
}

}  // namespace

void Party::join(const Party& other) {
  known.join(other.known);
  for (int s = 0; s < 2; ++s) {
    seen[s].join(other.seen[s]);
    fenced[s].join(other.fenced[s]);
  }
}

void meet(ResidentBlock& block, uint32_t w, uint32_t lanes) {
  MemoryOrder& order = *block.order;
  WarpParties& warp = order.parties[w];
  if ((warp.apart & lanes) == 0) return;
  Party joined;
  each(warp.apart & lanes, [&](int lane) { joined.join(warp.lanes[lane]); });
  if ((block.warps[w].live & ~lanes) == 0) {
    warp.all.join(joined);
    warp.apart = 0;
    order.fresh |= 1u << w;
    return;
  }
  each(lanes, [&](int lane) { party_of_lane(warp, lane).join(joined); });
}

void hand_over(MemoryOrder& order, uint32_t arrived, uint32_t waiting) {
  if ((order.learned & arrived) == 0) return;
  Party joined;
  each(arrived, [&](int w) { joined.join(order.parties[w].all); });
  each(waiting, [&](int w) { order.parties[w].all.join(joined); });
  order.learned |= waiting;
  order.fresh |= waiting;
}

void fence(Machine& m, Warp& warp, uint32_t lanes, MemoryScope scope, bool acquires) {
  ResidentBlock& block = running(m);
  MemoryOrder& order = order_of(block);
  const uint32_t now = advance_time(m), w = warp.index;
  // Lanes that synchronised in parts have clocks of their own; then the fence counts for all.
  const bool whole = (warp.live & ~lanes) == 0, together = whole || warp.lane_clocks != nullptr;
  const int scopes = scope == MemoryScope::Device ? 2 : 1;
  for (int s = 0; s < scopes; ++s) {
    for (uint32_t v = 0; v < block.warp_count; ++v) {
      const uint32_t known = std::max(block.barrier_time, block.clocks[w][v]);
      uint32_t& fenced = order.fenced[s][w][v];
      fenced = std::max(fenced, v == w && together ? now : known);
    }
    each(together ? 0 : lanes, [&](int lane) { order.alone[s][w][lane] = now; });
  }
  if (!together) order.lone_warps |= 1u << w;
  order.fresh |= 1u << w;
  order.fencers |= 1u << w;
  order.changed = true;
  if ((order.learned >> w & 1) != 0) {
    WarpParties& mine = order.parties[w];
    const auto note = [&](Party& party, const Party& common) {
      for (int s = 0; acquires && s < scopes; ++s) {
        party.known.join(party.seen[s]);
        party.known.join(common.seen[s]);
      }
      for (int s = 0; s < scopes; ++s) {
        party.fenced[s].join(party.known);
        party.fenced[s].join(common.known);
      }
    };
    if (whole) note(mine.all, mine.all);
    each(whole ? mine.apart : lanes, [&](int lane) { note(party_of_lane(mine, lane), mine.all); });
  }
  if (scope == MemoryScope::Device && acquires) block.refresh_time = now;
  if (scope == MemoryScope::Device && m.handovers != nullptr) m.handovers->fenced(m);
}

void publish(Machine& m, Warp& warp, uint32_t lanes, const MemOp& op, bool replaces) {
  if (op.order == Order::Release || op.order == Order::AcquireRelease)
    fence(m, warp, lanes, op.scope, false);
  if (running(m).order == nullptr && m.flags.empty()) return;
  Publication publication(m, warp, op, replaces);
  // Stores of several lanes to one place: any of them may come last.
  const bool same = same_address(warp, lanes, op);
  bool again = false;
  each(lanes, [&](int lane) {
    publication.write(lane, again);
    again = same;
  });
}

void acquire(Machine& m, Warp& warp, uint32_t lanes, const MemOp& op) {
  ResidentBlock& block = running(m);
  const bool at_once = op.order == Order::Acquire || op.order == Order::AcquireRelease;
  if (at_once && op.scope == MemoryScope::Device) block.refresh_time = advance_time(m);
  if (m.flags.empty() && (block.order == nullptr || block.order->flags.empty())) return;
  const bool whole = (warp.live & ~lanes) == 0 && same_address(warp, lanes, op);
  each(whole ? 1u << __builtin_ctz(lanes) : lanes, [&](int lane) {
    Known learned[2];
    look(m, block, op, lane_address(warp, op, lane), learned);
    if (learned[0].empty() && learned[1].empty()) return;
    MemoryOrder& order = order_of(block);
    WarpParties& mine = order.parties[warp.index];
    order.learned |= 1u << warp.index;
    block.ordered_in_parts = true;
    block.dirty = true;  // so that the next meeting of the lanes is not skipped
    Party& party = whole ? mine.all : party_of_lane(mine, lane);
    for (int s = 0; s < 2; ++s) {
      party.seen[s].join(learned[s]);
      if (at_once) party.known.join(learned[s]);
    }
  });
}

bool knows(const ResidentBlock& block, const Warp& by, int lane, uint32_t other_block,
           uint32_t thread, uint32_t time, bool seen) {
  if (block.order == nullptr || (block.order->learned >> by.index & 1) == 0) return false;
  const WarpParties& mine = block.order->parties[by.index];
  const auto has = [&](const Party& party) {
    return party.known.covers(other_block, thread, time) ||
           (seen && (party.seen[0].covers(other_block, thread, time) ||
                     party.seen[1].covers(other_block, thread, time)));
  };
  return has(mine.all) || ((mine.apart >> lane & 1) != 0 && has(mine.lanes[lane]));
}

const Flag* flag_at(const Machine& m, uint64_t address, bool shared) {
  const FlagPlace place = flag_place(m, address, shared);
  const auto& block = static_cast<const ResidentBlock&>(*m.block);
  if (place.shared && block.order == nullptr) return nullptr;
  const Flags& flags = place.shared ? block.order->flags : m.flags;
  const auto found = flags.find(place.number);
  return found == flags.end() ? nullptr : &found->second;
}

bool flag_is_read(const Machine& m, uint64_t address, bool shared) {
  const Flag* flag = flag_at(m, address, shared);
  const auto& block = static_cast<const ResidentBlock&>(*m.block);
  if (flag == nullptr || block.order == nullptr) return false;
  const FlagPlace place = flag_place(m, address, shared);
  const auto found = block.order->saw.find(place.number << 1 | (place.shared ? 1 : 0));
  return found != block.order->saw.end() && found->second == flag->version;
}

}  // namespace kw::vgpu
