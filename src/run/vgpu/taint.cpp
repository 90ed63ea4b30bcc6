// Undefined values. Reporting every read of them would flag correct kernels: compilers copy and
// shuffle values that are never used. So undefined bits are followed through registers and reported
// only where they matter: in an output, an address, a branch, a mask. Following them is slow. So a
// warp gets a shadow file at its first undefined read and drops it when all bits are clear. One
// origin per warp is kept for the message; with several it may name the wrong one.
#include "vgpu/taint.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "vgpu/address.h"
#include "vgpu/lane_values.h"
#include "vgpu/pool.h"
#include "vgpu/report.h"
#include "vgpu/slow_ops.h"

namespace kw::vgpu {
namespace {

constexpr std::byte kAll{0xff};

Subject origin_subject(const Machine& m, const UndefinedOrigin& origin) {
  if (origin.region == kRegisterFile || origin.region == kInactiveLane ||
      origin.region == kQuotient)
    return {};
  if (origin.region == kSharedRegion)
    return shared_subject(m, static_cast<int64_t>(origin.offset), origin.pc);
  if (origin.region == kLocalRegion)
    return local_subject(m, static_cast<int64_t>(origin.offset % m.launch.code->local_bytes),
                         origin.pc);
  return region_subject(m, origin.region, static_cast<int64_t>(origin.offset), origin.pc);
}

void fill_lanes(std::byte* file, const SavedSlot& slot, uint32_t mask, bool ones) {
  if (slot.width == 0) {
    uint32_t value = 0;
    std::memcpy(&value, file + slot.offset, 4);
    value = ones ? value | mask : value & ~mask;
    std::memcpy(file + slot.offset, &value, 4);
    return;
  }
  if (mask == ~0u) {
    std::memset(file + slot.offset, ones ? 0xff : 0, size_t{slot.width} * kLanes);
    return;
  }
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
    std::memset(file + slot.offset + static_cast<uint32_t>(__builtin_ctz(rest)) * slot.width,
                ones ? 0xff : 0, slot.width);
}

std::string origin_text(const Machine& m, const UndefinedOrigin& origin, const Subject& subject) {
  const int line = place_of(*m.launch.code, origin.pc).line;
  if (origin.region == kQuotient)
    return fmt::format("the integer division by zero at line {}", line);
  if (origin.region == kRegisterFile) {
    const size_t count = m.launch.code->undefined[m.code[origin.pc].target].size();
    return count == 1 ? fmt::format("a register that is read at line {} before it is written", line)
                      : fmt::format(
                            "one of {} registers that are read, first at line {}, before they are "
                            "written",
                            count, line);
  }
  return fmt::format("{}, read at line {} where {}", subject_text(subject), line,
                     origin.region == kSharedRegion
                         ? "it is uninitialised (or its writer is not waited for)"
                         : "nothing was written to it yet");
}

/// A thread and the lane that it reads, packed into an UndefinedOrigin.
struct InactiveRead {
  uint32_t thread = 0;
  int from = 0;
};
constexpr int kThreadBits = 16;
uint64_t packed(const InactiveRead& read) {
  return static_cast<uint64_t>(read.from) << kThreadBits | read.thread;
}
InactiveRead unpacked(uint64_t offset) {
  return {static_cast<uint32_t>(offset & ((1u << kThreadBits) - 1)),
          static_cast<int>(offset >> kThreadBits)};
}

// Undefined bytes in shared memory keep the origin of the warp that stored them.
void carry_origin(ResidentBlock& block, const Warp* by, uint32_t offset, uint32_t bytes) {
  constexpr size_t kMost = 4096;
  const bool known = by != nullptr && by->tainted && by->origin.region != kRegisterFile &&
                     block.origins.size() < kMost;
  if (!known && block.origins.empty()) return;
  for (uint32_t at = offset; at < offset + bytes; ++at) {
    if (known)
      block.origins.insert_or_assign(at, by->origin);
    else
      block.origins.erase(at);
  }
}

}  // namespace

void begin_inactive_lane(Machine& m, Warp& w, uint32_t pc, int lane, int from) {
  const uint32_t thread = w.index * kLanes + static_cast<uint32_t>(lane);
  begin_taint(m, w, pc, kInactiveLane, packed({thread, from}));
}

void begin_taint(Machine& m, Warp& w, uint32_t pc, uint32_t region, uint64_t offset) {
  w.follows_all = true;
  if (w.tainted && (w.origin.region != kRegisterFile || region == kRegisterFile)) return;
  if (!w.tainted) w.shadow = m.pool->shadow(static_cast<ResidentBlock&>(*m.block), w);
  w.tainted = true;
  w.origin = {pc, region, offset};
  if (region == kSharedRegion) {
    const auto& origins = static_cast<const ResidentBlock&>(*m.block).origins;
    const auto carried = origins.find(static_cast<uint32_t>(offset));
    if (carried != origins.end()) w.origin = carried->second;
  }
  if (m.must_be_clean && region != kRegisterFile) m.stop = true;
}

void undefine_registers(Machine& m, Warp& w, uint32_t pc, const std::vector<SavedSlot>& slots,
                        uint32_t mask) {
  const bool checks = m.counters == nullptr;
  const bool follows_all = w.tainted && w.follows_all;
  if (checks) begin_taint(m, w, pc, kRegisterFile, 0);
  w.follows_all = follows_all;
  for (const SavedSlot& slot : slots) {
    fill_lanes(w.regs, slot, mask, false);
    if (checks) mark_register(w, slot, mask, true);
  }
}

void mark_register(Warp& w, const SavedSlot& slot, uint32_t mask, bool undefined) {
  fill_lanes(w.shadow, slot, mask, undefined);
}

void end_taint_if_clean(const Machine& m, Warp& w) {
  if (w.shadow[w.undefined_at] != std::byte{0}) return;
  constexpr uint32_t kStep = 1024;
  const uint32_t end = m.launch.code->file_bytes;
  for (uint32_t at = 0; at < end; at += kStep) {
    if (!any_bit(w.shadow + at, std::min(kStep, end - at))) continue;
    while (w.shadow[at] == std::byte{0}) ++at;
    w.undefined_at = at;
    return;
  }
  w.tainted = false;
}

void undefined_global_bits(const MemoryRegion& region, uint64_t offset, uint32_t bytes,
                           std::byte* bits) {
  for (uint32_t i = 0; i < bytes; ++i) {
    const uint64_t stamp =
        region.writes != nullptr ? region.writes[(offset + i) >> region.unit_log2] : 0;
    bits[i] = std::byte{0};
    if (stamp == 0 && !region.defined) bits[i] = kAll;
    if ((stamp & global_stamp::kUndefined) != 0 && region.undefined != nullptr)
      bits[i] = region.undefined[offset + i];
  }
}

void undefined_shared_bits(const Block& block, uint32_t offset, uint32_t bytes, std::byte* bits) {
  namespace st = shared_stamp;
  for (uint32_t i = 0; i < bytes; ++i) {
    const uint64_t stamp = block.shared_writes[(offset + i) >> block.unit_log2];
    bits[i] = std::byte{0};
    if (st::time(stamp) < block.start_time)
      bits[i] = kAll;
    else if ((stamp & st::kSpecial) != 0)
      bits[i] = block.shared_undefined[offset + i];
  }
}

void mark_global(Machine& m, const LaneAccess& access, uint32_t number, uint64_t offset,
                 const std::byte* bits) {
  MemoryRegion& region = m.memory.row(number);
  if (bits == nullptr) {
    if (region.undefined != nullptr) std::memset(region.undefined + offset, 0, access.bytes);
    return;
  }
  if (region.reports_undefined) {
    const Subject subject = region_subject(m, number, static_cast<int64_t>(offset), access.pc);
    report_undefined(m, *access.warp, access.pc, access.lane,
                     fmt::format("stores an undefined value to {}", subject_text(subject)));
    return;
  }
  if (m.must_be_clean) {  // the bits would stay in this thread's copy
    m.stop = true;
    return;
  }
  m.memory.ensure_undefined(region);
  std::memcpy(region.undefined + offset, bits, access.bytes);
  const uint64_t first = offset >> region.unit_log2;
  for (uint64_t u = first; u < first + (access.bytes >> region.unit_log2); ++u)
    region.writes[u] |= global_stamp::kUndefined;
}

void mark_shared(Machine& m, const Warp* by, uint32_t offset, uint32_t bytes,
                 const std::byte* bits) {
  auto& block = static_cast<ResidentBlock&>(*m.block);
  if (bits == nullptr) return;  // the new stamp already means "defined"
  carry_origin(block, by, offset, bytes);
  if (block.shared_undefined == nullptr) {
    block.shared_bits.resize(block.shared_bytes);
    block.shared_undefined = block.shared_bits.data();
  }
  std::memcpy(block.shared_undefined + offset, bits, bytes);
  const uint32_t first = offset >> block.unit_log2;
  for (uint32_t u = first; u < first + (bytes >> block.unit_log2); ++u)
    block.shared_writes[u] |= shared_stamp::kSpecial;
}

bool undefined_address(Machine& m, Warp& w, uint32_t pc, const MemOp& op, int lane) {
  const int width = op.address64 ? 8 : 4;
  uint64_t bits = 0;
  std::memcpy(&bits, w.shadow + op.address + lane * width, width);
  if (bits == 0) return false;
  report_undefined(m, w, pc, lane, "uses an undefined value as an address");
  return true;
}

namespace {

// Reported at the shuffle, because that line must be fixed.
void report_inactive_lane(Machine& m, const Warp& w, uint32_t pc, int lane,
                          const std::string& what) {
  const InactiveRead read = unpacked(w.origin.offset);
  report(m, FindingKind::InactiveLaneRead, Certainty::Certain,
         {m.block->linear, read.thread, w.origin.pc}, {}, actor(m, w, lane, pc), [&] {
           const Warp& reader = m.block->warps[read.thread / kLanes];
           return fmt::format(
               "lane {} reads lane {} in a shuffle, but lane {} {}; line {} {}",
               read.thread % kLanes, read.from, read.from,
               (reader.present >> read.from & 1) == 0 ? "does not exist in this block"
               : (reader.live >> read.from & 1) == 0  ? "has exited"
                                                      : "does not execute the shuffle",
               place_of(*m.launch.code, pc).line, what);
         });
}

}  // namespace

void report_undefined(Machine& m, Warp& w, uint32_t pc, int lane, const std::string& what) {
  if (w.origin.region == kInactiveLane) {
    report_inactive_lane(m, w, pc, lane, what);
    return;
  }
  const Subject subject = origin_subject(m, w.origin);
  Actor origin = actor(m, w, lane, w.origin.pc);
  report(
      m, FindingKind::UninitialisedUse, Certainty::Certain, actor(m, w, lane, pc), subject, origin,
      [&] { return fmt::format("{}: it comes from {}", what, origin_text(m, w.origin, subject)); },
      w.origin.pc);
}

}  // namespace kw::vgpu
