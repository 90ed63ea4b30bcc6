// cp.async lets a kernel read shared memory before its copy has arrived. On a GPU that sometimes
// works. Here the bytes are read from global memory at once but stored to shared memory at the
// wait. Until then the target is marked as undefined, so every early read is found. The
// alternative, copying at once, would hide a missing wait. The cost is a queue per warp; when it is
// full, the older half of its copies completes early.
#include "vgpu/async_copy.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "vgpu/machine.h"
#include "vgpu/pool.h"
#include "vgpu/races.h"
#include "vgpu/report.h"
#include "vgpu/resolve.h"
#include "vgpu/scheduler.h"
#include "vgpu/slow_ops.h"
#include "vgpu/taint.h"

namespace kw::vgpu {
namespace {

constexpr size_t kMaxPending = size_t{1} << 16;  // per warp

AsyncQueue& queue(Machine& m, const Warp& w) {
  return static_cast<ResidentBlock&>(*m.block).async[w.index];
}

// The number of bytes that come from memory; the rest is filled with zeros.
uint32_t bytes_read(const AsyncCopyInst& copy, const Warp& w, int lane) {
  const uint32_t total = copy.source.total;
  if (copy.ignore != 0) {
    uint32_t mask = 0;
    std::memcpy(&mask, w.regs + copy.ignore, 4);
    const bool ignored = ((mask >> lane & 1) != 0) != copy.ignore_negate;
    return ignored ? 0 : total;
  }
  if (copy.source_bytes == 0) return total;
  uint32_t bytes = 0;
  std::memcpy(&bytes, w.regs + copy.source_bytes + lane * 4, 4);
  return std::min(bytes, total);
}

// Splits the copy into power-of-two pieces, so that each is an access that the checks support.
void read_source(Machine& m, Warp& w, int lane, uint32_t pc, const Target& source, uint32_t bytes,
                 PendingCopy& pending) {
  pending.region = source.region;
  pending.source = source.offset;
  pending.read = bytes;
  std::memcpy(pending.data, source.data, bytes);
  if (m.counters != nullptr || !m.regions[source.region].tracked) return;
  for (uint32_t at = 0; at < bytes;) {
    uint32_t piece = 16;
    while (at % piece != 0 || at + piece > bytes) piece /= 2;
    const LaneAccess access{&w, lane, pc, AccessKind::Read, false, nullptr, nullptr, piece};
    if (check_global(m, access, source.region, source.offset + at)) {
      undefined_global_bits(m.regions[source.region], source.offset + at, piece,
                            pending.undefined + at);
      pending.has_undefined = true;
    }
    at += piece;
  }
}

void check_target(Machine& m, Warp& w, const PendingCopy& copy, const std::byte* undefined) {
  const LaneAccess access{
      &w,        static_cast<int>(copy.lane),   copy.pc,   AccessKind::Write, false,
      copy.data, m.block->shared + copy.shared, copy.bytes};
  check_shared(m, access, copy.shared);
  mark_shared(m, nullptr, copy.shared, copy.bytes, undefined);
}

// The bytes may arrive at any time until the wait, so until then they are undefined.
void depart(Machine& m, Warp& w, const PendingCopy& copy) {
  std::byte unknown[sizeof copy.data];
  std::memset(unknown, 0xff, sizeof unknown);
  check_target(m, w, copy, unknown);
}

void land(Machine& m, Warp& w, const PendingCopy& copy) {
  Block& block = *m.block;
  if (m.counters == nullptr) {
    // Reads before the copy started were checked then, and reads since then saw undefined bytes.
    const uint32_t end = copy.shared + copy.bytes;
    for (uint32_t unit = copy.shared >> block.unit_log2; unit << block.unit_log2 < end; ++unit) {
      block.shared_reads[unit] = 0;
      if (block.ordered_in_parts && block.readers != nullptr) block.readers->forget(unit);
      block.shared_writes[unit] &= ~shared_stamp::kSpecial;
    }
    check_target(m, w, copy, copy.has_undefined ? copy.undefined : nullptr);
  }
  std::memcpy(block.shared + copy.shared, copy.data, copy.bytes);
  ++m.progress;
}

// The copy may read its source until the wait. So a change since it was issued is an error, even by
// the copying thread or after a barrier. Those that nothing orders are found as races already.
void check_source(Machine& m, const Warp& w, const PendingCopy& copy) {
  namespace st = global_stamp;
  if (copy.read == 0 || m.counters != nullptr) return;
  const MemoryRegion& region = m.regions[copy.region];
  if (region.writes == nullptr) return;
  const std::byte* now = region.data + copy.source;
  const auto at = std::mismatch(now, now + copy.read, copy.data).first - now;
  if (at == copy.read) return;
  const uint64_t offset = copy.source + static_cast<uint64_t>(at);
  const uint64_t written = region.writes[offset >> region.unit_log2];
  if (st::segment(written) < m.launch_segment) return;
  const Actor writer{m.segments[st::segment(written) - m.launch_segment].block, st::thread(written),
                     st::pc(written)};
  const Actor copier = actor(m, w, static_cast<int>(copy.lane), copy.pc);
  const Subject subject = region_subject(m, copy.region, static_cast<int64_t>(offset), writer.pc);
  report(m, record::FindingKind::MissingCopyWait, record::Certainty::Certain, writer, subject,
         copier, [&] {
           return fmt::format(
               "changes {}, which the cp.async of {} at line {} may still be reading: that thread "
               "has not waited for it",
               subject_text(subject), thread_name(thread_id(m.launch, copier.block, copier.thread)),
               place_of(*m.launch.code, copy.pc).line);
         });
}

// For a warp that never waits: on any device its oldest copies have arrived by now.
void land_oldest(Machine& m, Warp& w) {
  auto& pending = queue(m, w).pending;
  const auto end = pending.begin() + static_cast<std::ptrdiff_t>(pending.size() / 2);
  for (auto copy = pending.begin(); copy != end; ++copy) land(m, w, *copy);
  pending.erase(pending.begin(), end);
}

}  // namespace

void async_copy(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  const AsyncCopyInst& copy = m.launch.code->async_copies[m.code[pc].target];
  if (m.counters != nullptr) count_access(m, w, pc, copy.source, mask);
  watch_clock(m);
  if (queue(m, w).pending.size() >= kMaxPending) land_oldest(m, w);
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (w.tainted && (undefined_address(m, w, pc, copy.shared, lane) ||
                      undefined_address(m, w, pc, copy.source, lane)))
      continue;
    const uint32_t bytes = copy.source.total;
    const Target to = resolve(m, w, lane, pc, ptx::Space::Shared,
                              lane_address(w, copy.shared, lane), bytes, true);
    if (to.kind == Target::Kind::None) continue;
    PendingCopy pending;
    pending.lane = static_cast<uint32_t>(lane);
    pending.shared = static_cast<uint32_t>(to.offset);
    pending.bytes = bytes;
    pending.pc = pc;
    pending.group = queue(m, w).group[lane];
    const uint32_t wanted = bytes_read(copy, w, lane);
    if (wanted != 0) {
      // Bounds must hold for the bytes read, alignment for the whole copy.
      const uint64_t address = lane_address(w, copy.source, lane);
      const Target from =
          resolve(m, w, lane, pc, ptx::Space::Global, address, wanted == bytes ? bytes : 1, false);
      if (from.kind == Target::Kind::None) continue;
      if (wanted != bytes &&
          resolve(m, w, lane, pc, ptx::Space::Global, address + wanted - 1, 1, false).kind ==
              Target::Kind::None)
        continue;
      read_source(m, w, lane, pc, from, wanted, pending);
    }
    if (m.counters == nullptr) depart(m, w, pending);
    queue(m, w).pending.push_back(pending);
  }
}

void async_commit(Machine& m, Warp& w, uint32_t mask) {
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) ++queue(m, w).group[__builtin_ctz(rest)];
}

void async_wait(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  const Inst& in = m.code[pc];
  AsyncQueue& own = queue(m, w);
  const bool everything = in.flags == 1;
  size_t kept = 0;
  for (size_t i = 0; i < own.pending.size(); ++i) {
    const PendingCopy& copy = own.pending[i];
    const uint32_t committed = own.group[copy.lane];
    const bool ready = everything || (copy.group < committed && committed - copy.group > in.target);
    if ((mask >> copy.lane & 1) == 0 || !ready) {
      own.pending[kept++] = copy;
      continue;
    }
    check_source(m, w, copy);
    land(m, w, copy);
  }
  own.pending.resize(kept);
}

}  // namespace kw::vgpu
