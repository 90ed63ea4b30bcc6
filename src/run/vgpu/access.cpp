// The exact version of every load and store: one lane after the other, with all checks. The fast
// paths in hot_global.h and hot_shared.h handle the common cases. Everything they decline comes
// here, and so does every access of a warp that has undefined bits. A lane resolves its address,
// checks the stamps, then moves the bytes. Values and undefined bits are staged in a local array,
// so one move function serves both. The cost is one pass of checks per lane instead of a few vector
// comparisons per warp.
#include <cstring>

#include "core/hash.h"
#include "vgpu/access.h"
#include "vgpu/block_run.h"
#include "vgpu/ordering.h"
#include "vgpu/polling.h"
#include "vgpu/pool.h"
#include "vgpu/races.h"
#include "vgpu/resolve.h"
#include "vgpu/scheduler.h"
#include "vgpu/slow_ops.h"
#include "vgpu/taint.h"

namespace kw::vgpu {
namespace {

constexpr uint32_t kLaneBytes = 32;  // widest access of one lane

struct LaneData {
  alignas(64) std::byte bytes[kLanes * kLaneBytes] = {};
  alignas(64) std::byte undefined[kLanes * kLaneBytes] = {};
  alignas(64) uint32_t offsets[kLanes];
  LaneData() {
    for (int lane = 0; lane < kLanes; ++lane)
      offsets[lane] = static_cast<uint32_t>(lane) * kLaneBytes;
  }
  std::byte* value(int lane) { return bytes + lane * kLaneBytes; }
  std::byte* bits(int lane) { return undefined + lane * kLaneBytes; }
};

bool any(const std::byte* bits, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i) {
    if (bits[i] != std::byte{0}) return true;
  }
  return false;
}

}  // namespace

bool read_piece(Machine& m, const LaneAccess& access, const Target& target, std::byte* value,
                std::byte* bits) {
  const uint32_t bytes = access.bytes;
  std::memcpy(value, target.data, bytes);
  if (m.counters != nullptr) return false;
  switch (target.kind) {
    case Target::Kind::Global: {
      MemoryRegion& region = m.regions[target.region];
      if (!region.tracked || !check_global(m, access, target.region, target.offset)) return false;
      undefined_global_bits(region, target.offset, bytes, bits);
      return any(bits, bytes);
    }
    case Target::Kind::Shared:
      if (!check_shared(m, access, static_cast<uint32_t>(target.offset))) return false;
      undefined_shared_bits(*m.block, static_cast<uint32_t>(target.offset), bytes, bits);
      return any(bits, bytes);
    case Target::Kind::Local:
      std::memcpy(bits, access.warp->local_undefined + target.offset, bytes);
      return any(bits, bytes);
    default:
      return false;
  }
}

void write_piece(Machine& m, const LaneAccess& access, const Target& target,
                 const std::byte* bits) {
  const uint32_t bytes = access.bytes;
  if (m.counters == nullptr) {
    const bool undefined = any(bits, bytes);
    if (target.kind == Target::Kind::Global && m.regions[target.region].tracked) {
      check_global(m, access, target.region, target.offset);
      mark_global(m, access, target.region, target.offset, undefined ? bits : nullptr);
    } else if (target.kind == Target::Kind::Shared) {
      check_shared(m, access, static_cast<uint32_t>(target.offset));
      mark_shared(m, access.warp, static_cast<uint32_t>(target.offset), bytes,
                  undefined ? bits : nullptr);
    } else if (target.kind == Target::Kind::Local) {
      std::memcpy(access.warp->local_undefined + target.offset, bits, bytes);
    }
  }
  std::memcpy(target.data, access.value, bytes);
}

namespace {

// A load that sees the same values again and again waits for another thread to change them.
void note_poll(Machine& m, Warp& w, uint32_t pc, const MemOp& op, uint32_t mask, LaneData& data,
               const std::byte* first) {
  const int lane = __builtin_ctz(mask);
  const auto seen = [&](int at, uint64_t seed) {
    return hash64({reinterpret_cast<const char*>(data.value(at)), op.total}, seed);
  };
  PolledValue look{pc, lane_address(w, op, lane), seen(lane, 0), first, op.total};
  for (uint32_t rest = mask & (mask - 1); rest != 0; rest &= rest - 1) {
    const uint64_t address = lane_address(w, op, __builtin_ctz(rest));
    if (address == look.address && look.data != nullptr) continue;
    look.data = nullptr;
    look.seen = seen(__builtin_ctz(rest), look.seen ^ address);
  }
  poll(m, w, look);
}

void load_exact(Machine& m, Warp& w, uint32_t pc, const MemOp& op, uint32_t mask) {
  LaneData data;
  const std::byte* first = nullptr;
  if (op.order > Order::Seed && m.counters == nullptr) acquire(m, w, mask, op);
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (w.tainted && undefined_address(m, w, pc, op, lane)) continue;
    const Target target =
        resolve(m, w, lane, pc, op.space, lane_address(w, op, lane), op.total, false);
    if (target.kind == Target::Kind::None) continue;
    LaneAccess access{&w,          lane,    pc,       AccessKind::Read, op.order != Order::Weak,
                      nullptr,     nullptr, op.total, op.scope,         op.cached,
                      op.read_only};
    if (read_piece(m, access, target, data.value(lane), data.bits(lane))) {
      begin_taint(m, w, pc, target.region, target.offset);
    }
    if (rest == mask) first = target.data;
  }
  if (op.order > Order::Seed && first != nullptr) note_poll(m, w, pc, op, mask, data, first);
  op.lanes(w.regs, op, data.bytes, data.offsets, mask);
  if (w.tainted) op.lanes(w.shadow, op, data.undefined, data.offsets, mask);
}

void store_exact(Machine& m, Warp& w, uint32_t pc, const MemOp& op, uint32_t mask) {
  LaneData data;
  op.lanes(w.regs, op, data.bytes, data.offsets, mask);
  if (w.tainted) op.lanes(w.shadow, op, data.undefined, data.offsets, mask);
  if (op.order != Order::Weak && m.counters == nullptr) publish(m, w, mask, op, true);
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (w.tainted && undefined_address(m, w, pc, op, lane)) continue;
    const Target target =
        resolve(m, w, lane, pc, op.space, lane_address(w, op, lane), op.total, true);
    if (target.kind == Target::Kind::None) continue;
    LaneAccess access{&w,
                      lane,
                      pc,
                      AccessKind::Write,
                      op.order != Order::Weak,
                      data.value(lane),
                      target.data,
                      op.total,
                      op.scope};
    write_piece(m, access, target, data.bits(lane));
  }
}

}  // namespace

void access_exact(Machine& m, Warp& w, uint32_t pc, const MemOp& op, uint32_t mask) {
  watch_clock(m);
  if (op.is_store)
    store_exact(m, w, pc, op, mask);
  else
    load_exact(m, w, pc, op, mask);
  if (op.order > Order::Seed) preempt(m, w);
}

}  // namespace kw::vgpu
