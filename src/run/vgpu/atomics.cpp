// atom and red. Lanes execute one after the other in lane order, so results are the same on every
// run; a real GPU leaves the order open. The first lane always takes the exact path, which checks
// bounds, stamps and undefined bits. Each later lane first tries quick_target, which needs a few
// comparisons. It returns null for everything unusual, and then that lane takes the exact path too.
// An atomic that changes nothing counts as a poll of memory, so that spin locks are recognised as
// waiting.
#include <bit>
#include <cstring>

#include "core/hash.h"
#include "numeric/small_float.h"
#include "vgpu/address.h"
#include "vgpu/block_run.h"
#include "vgpu/ordering.h"
#include "vgpu/polling.h"
#include "vgpu/races.h"
#include "vgpu/resolve.h"
#include "vgpu/scheduler.h"
#include "vgpu/slow_ops.h"
#include "vgpu/taint.h"

namespace kw::vgpu {
namespace {

using ptx::Type;

template <class Signed, class Unsigned>
uint64_t integer_result(AtomicOp op, bool is_signed, uint64_t old_bits, uint64_t b_bits,
                        uint64_t c_bits) {
  const auto old = static_cast<Unsigned>(old_bits), b = static_cast<Unsigned>(b_bits),
             c = static_cast<Unsigned>(c_bits);
  const bool less = is_signed ? static_cast<Signed>(b) < static_cast<Signed>(old) : b < old;
  switch (op) {
    case AtomicOp::Add:
      return static_cast<Unsigned>(old + b);
    case AtomicOp::Min:
      return less ? b : old;
    case AtomicOp::Max:
      return less ? old : b;
    case AtomicOp::And:
      return old & b;
    case AtomicOp::Or:
      return old | b;
    case AtomicOp::Xor:
      return old ^ b;
    case AtomicOp::Inc:
      return old >= b ? 0 : old + 1;
    case AtomicOp::Dec:
      return old == 0 || old > b ? b : old - 1;
    case AtomicOp::Exchange:
      return b;
    case AtomicOp::Cas:
      return old == b ? c : old;
  }
  return old;
}

uint16_t half_result(AtomicOp op, uint16_t old, uint16_t b, bool bf16) {
  const float x = bf16 ? numeric::bf16_to_float(old) : numeric::fp16_to_float(old);
  const float y = bf16 ? numeric::bf16_to_float(b) : numeric::fp16_to_float(b);
  if (op == AtomicOp::Min || op == AtomicOp::Max) {
    if (x != x) return b;
    if (y != y) return old;
    return (op == AtomicOp::Min) == (y < x) ? b : old;
  }
  // The sum of two halves is exact in double, so this rounds once.
  const double sum = static_cast<double>(x) + static_cast<double>(y);
  return bf16 ? numeric::double_to_bf16(sum) : numeric::double_to_fp16(sum);
}

// atom.add.f32 keeps denormals on global memory. Current hardware does not flush them on shared
// memory either.
uint64_t float_result(Type type, AtomicOp op, uint64_t old, uint64_t b) {
  switch (type) {
    case Type::F32: {
      const float sum = std::bit_cast<float>(static_cast<uint32_t>(old)) +
                        std::bit_cast<float>(static_cast<uint32_t>(b));
      return sum != sum ? 0x7fffffffu : std::bit_cast<uint32_t>(sum);
    }
    case Type::F64: {
      const double sum = std::bit_cast<double>(old) + std::bit_cast<double>(b);
      return sum != sum ? 0x7ff8000000000000u : std::bit_cast<uint64_t>(sum);
    }
    case Type::F16:
    case Type::Bf16:
      return half_result(op, static_cast<uint16_t>(old), static_cast<uint16_t>(b),
                         type == Type::Bf16);
    default: {
      const bool bf16 = type == Type::Bf16x2;
      const uint32_t low =
          half_result(op, static_cast<uint16_t>(old), static_cast<uint16_t>(b), bf16);
      const uint32_t high =
          half_result(op, static_cast<uint16_t>(old >> 16), static_cast<uint16_t>(b >> 16), bf16);
      return low | (high << 16);
    }
  }
}

bool is_float(Type type) {
  return type == Type::F32 || type == Type::F64 || type == Type::F16 || type == Type::Bf16 ||
         type == Type::F16x2 || type == Type::Bf16x2;
}

uint64_t combine(const AtomicInst& atom, uint64_t old, uint64_t b, uint64_t c) {
  const bool moves = atom.op == AtomicOp::Exchange || atom.op == AtomicOp::Cas;
  if (is_float(atom.type) && !moves) return float_result(atom.type, atom.op, old, b);
  const bool is_signed = atom.type == Type::S32 || atom.type == Type::S64;
  if (atom.mem.width == 8) return integer_result<int64_t, uint64_t>(atom.op, is_signed, old, b, c);
  if (atom.mem.width == 4) return integer_result<int32_t, uint32_t>(atom.op, is_signed, old, b, c);
  return integer_result<int16_t, uint16_t>(atom.op, is_signed, old, b, c);
}

uint64_t read_slot(const std::byte* file, uint32_t slot, int width, int lane) {
  uint64_t value = 0;
  std::memcpy(&value, file + slot + lane * width, static_cast<size_t>(width));
  return value;
}

// Whether the content after the operation is undefined: all of it or none.
bool undefined_after(const AtomicInst& atom, const Warp& w, int lane, int k, bool old_undefined) {
  bool operand = false;
  if (w.tainted) {
    operand = read_slot(w.shadow, atom.operand[k], atom.mem.width, lane) != 0;
    if (atom.op == AtomicOp::Cas)
      operand = operand || read_slot(w.shadow, atom.swap, atom.mem.width, lane) != 0;
  }
  return operand || (old_undefined && atom.op != AtomicOp::Exchange);
}

void order_atomic(Machine& m, Warp& w, const AtomicInst& atom, uint32_t mask) {
  if (m.counters != nullptr) return;
  publish(m, w, mask, atom.mem, false);
  if (atom.has_result) acquire(m, w, mask, atom.mem);
}

// The usual case: one unit that only atomics touched since the last barrier (shared) or in this
// launch (global). Null: the exact path must check it.
std::byte* quick_shared(Machine& m, const Warp& w, int lane, uint32_t pc, const MemOp& op,
                        uint64_t offset) {
  namespace st = shared_stamp;
  Block& block = *m.block;
  const uint32_t bytes = op.total;
  if (bytes != 1u << block.unit_log2 || offset >= block.shared_bytes || offset % bytes != 0)
    return nullptr;
  uint64_t& written = block.shared_writes[offset >> block.unit_log2];
  if (m.counters != nullptr) return written == st::kRedZone ? nullptr : block.shared + offset;
  const uint64_t start = uint64_t{block.start_time} << st::kTimeShift;
  const uint64_t ordered = uint64_t{block.barrier_time} << st::kTimeShift;
  const bool defined = written >= start && (written & st::kSpecial) == 0;
  if (!defined || (written >= ordered && (written & st::kStrong) == 0)) return nullptr;
  if (block.shared_reads[offset >> block.unit_log2] >= ordered) return nullptr;
  written = st::make(block.time, w.index * kLanes + static_cast<uint32_t>(lane), pc,
                     st::kStrong | st::kAtomic);
  block.dirty = true;
  return block.shared + offset;
}

std::byte* quick_global(Machine& m, const Warp& w, int lane, uint32_t pc, const MemOp& op,
                        uint64_t address) {
  namespace st = global_stamp;
  const uint32_t number = m.map.region_of(address);
  if (number >= m.region_count || op.scope != MemoryScope::Device) return nullptr;
  MemoryRegion& region = m.regions[number];
  const uint64_t offset = address - region.base, bytes = op.total;
  if (!region.writable || offset >= region.size || address % bytes != 0 ||
      offset + bytes > region.size)
    return nullptr;
  if (m.counters != nullptr) return region.data + offset;
  if (!region.tracked || region.writes == nullptr || bytes != uint64_t{1} << region.unit_log2)
    return nullptr;
  uint64_t& written = region.writes[offset >> region.unit_log2];
  const uint64_t old = uint64_t{m.launch_segment} << st::kSegmentShift;
  const bool atomics_only =
      (written & (st::kUndefined | st::kStrong | st::kBlockScope)) == st::kStrong;
  const bool settled = written < old && (written != 0 || region.defined);
  if (!atomics_only && !settled) return nullptr;
  if (region.reads != nullptr && region.reads[offset >> region.unit_log2] >= old) return nullptr;
  if (m.block->segment == 0) open_segment(m);
  written = st::make(m.block->segment, w.index * kLanes + static_cast<uint32_t>(lane), pc,
                     st::kStrong | st::kAtomic);
  m.block->dirty = true;
  return region.data + offset;
}

std::byte* quick_target(Machine& m, const Warp& w, int lane, uint32_t pc, const AtomicInst& atom) {
  if (w.tainted || atom.mem.count != 1 || m.handovers != nullptr) return nullptr;
  const uint64_t address = lane_address(w, atom.mem, lane);
  if (atom.mem.space == ptx::Space::Shared) return quick_shared(m, w, lane, pc, atom.mem, address);
  if (atom.mem.space == ptx::Space::Generic && m.map.is_shared(address))
    return quick_shared(m, w, lane, pc, atom.mem, address - m.map.window(kSharedRegion));
  return quick_global(m, w, lane, pc, atom.mem, address);
}

// True when the memory changed.
bool update_quickly(Warp& w, const AtomicInst& atom, int lane, std::byte* data) {
  const int width = atom.mem.width;
  uint64_t old = 0;
  std::memcpy(&old, data, static_cast<size_t>(width));
  const uint64_t b = read_slot(w.regs, atom.operand[0], width, lane);
  const uint64_t c = atom.op == AtomicOp::Cas ? read_slot(w.regs, atom.swap, width, lane) : 0;
  const uint64_t now = combine(atom, old, b, c);
  std::memcpy(data, &now, static_cast<size_t>(width));
  if (atom.has_result)
    std::memcpy(w.regs + atom.mem.data[0] + lane * width, &old, static_cast<size_t>(width));
  return now != old;
}

struct LaneResult {
  bool changed = false;
  bool undefined = false;
};

LaneResult update_lane(Machine& m, Warp& w, uint32_t pc, const AtomicInst& atom, int lane,
                       const Target& target) {
  const int width = atom.mem.width;
  LaneResult result;
  LaneAccess access{
      &w, lane, pc, AccessKind::Atomic, true, nullptr, target.data, atom.mem.total, atom.mem.scope};
  const bool tracked = m.counters == nullptr &&
                       (target.kind == Target::Kind::Shared ||
                        (target.kind == Target::Kind::Global && m.regions[target.region].tracked));
  const bool shared = target.kind == Target::Kind::Shared;
  if (tracked)
    result.undefined = shared ? check_shared(m, access, static_cast<uint32_t>(target.offset))
                              : check_global(m, access, target.region, target.offset);
  if (result.undefined) begin_taint(m, w, pc, target.region, target.offset);
  std::byte bits[32] = {};
  bool any_bits = false;
  for (int k = 0; k < atom.mem.count; ++k) {
    uint64_t old = 0;
    std::memcpy(&old, target.data + k * width, static_cast<size_t>(width));
    const uint64_t b = read_slot(w.regs, atom.operand[k], width, lane);
    const uint64_t c = atom.op == AtomicOp::Cas ? read_slot(w.regs, atom.swap, width, lane) : 0;
    const uint64_t now = combine(atom, old, b, c);
    result.changed = result.changed || std::memcmp(&now, &old, static_cast<size_t>(width)) != 0;
    std::memcpy(target.data + k * width, &now, static_cast<size_t>(width));
    if (undefined_after(atom, w, lane, k, result.undefined)) {
      any_bits = true;
      std::memset(bits + k * width, 0xff, static_cast<size_t>(width));
    }
    if (!atom.has_result) continue;
    std::memcpy(w.regs + atom.mem.data[k] + lane * width, &old, static_cast<size_t>(width));
    if (w.tainted)
      std::memset(w.shadow + atom.mem.data[k] + lane * width, result.undefined ? 0xff : 0,
                  static_cast<size_t>(width));
  }
  if (tracked && shared)
    mark_shared(m, &w, static_cast<uint32_t>(target.offset), atom.mem.total,
                any_bits ? bits : nullptr);
  if (tracked && !shared)
    mark_global(m, access, target.region, target.offset, any_bits ? bits : nullptr);
  return result;
}

void note_change(Machine& m, const AtomicInst& atom) {
  ++m.progress;
  m.outside += atom.mem.space != ptx::Space::Shared ? 1 : 0;
}

// The poll of an atomic that did not change memory.
PolledValue failed_look(const Warp& w, uint32_t pc, const AtomicInst& atom, uint32_t mask,
                        const std::byte* data) {
  const uint64_t address = lane_address(w, atom.mem, __builtin_ctz(mask));
  const uint64_t seen = hash64({reinterpret_cast<const char*>(data), atom.mem.total}, 0);
  for (uint32_t rest = mask & (mask - 1); rest != 0 && data != nullptr; rest &= rest - 1) {
    if (lane_address(w, atom.mem, __builtin_ctz(rest)) != address) data = nullptr;
  }
  return {pc, address, seen, data, atom.mem.total};
}

}  // namespace

void run_atomic(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  const AtomicInst& atom = m.atomics[m.code[pc].target];
  const bool was_tainted = w.tainted;
  watch_clock(m);
  order_atomic(m, w, atom, mask);
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (std::byte* data = rest != mask ? quick_target(m, w, lane, pc, atom) : nullptr) {
      if (update_quickly(w, atom, lane, data)) note_change(m, atom);
      continue;
    }
    const bool bad_address =
        w.tainted && was_tainted && undefined_address(m, w, pc, atom.mem, lane);
    Target target;
    if (!bad_address)
      target = resolve(m, w, lane, pc, atom.mem.space, lane_address(w, atom.mem, lane),
                       atom.mem.total, true);
    if (target.kind == Target::Kind::None || target.kind == Target::Kind::Param) {
      for (int k = 0; atom.has_result && k < atom.mem.count; ++k)
        std::memset(w.regs + atom.mem.data[k] + lane * atom.mem.width, 0, atom.mem.width);
      continue;
    }
    const LaneResult result = update_lane(m, w, pc, atom, lane, target);
    if (result.changed)
      note_change(m, atom);
    else if (rest == mask)
      poll(m, w, failed_look(w, pc, atom, mask, target.data));
  }
  preempt(m, w);
}

}  // namespace kw::vgpu
