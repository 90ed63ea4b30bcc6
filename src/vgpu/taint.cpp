#include "vgpu/taint.h"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "vgpu/address.h"
#include "vgpu/pool.h"
#include "vgpu/report.h"
#include "vgpu/slow_ops.h"

namespace kw::vgpu {
namespace {

using record::Certainty;
using record::FindingKind;
constexpr std::byte kAll{0xff};

Subject origin_subject(const Machine& m, const UndefinedOrigin& origin) {
  if (origin.region == kSharedRegion) return shared_subject(m, static_cast<int64_t>(origin.offset));
  if (origin.region == kLocalRegion)
    return local_subject(m, static_cast<int64_t>(origin.offset % m.launch.code->local_bytes));
  return region_subject(m, origin.region, static_cast<int64_t>(origin.offset));
}

}  // namespace

void begin_taint(Machine& m, Warp& w, uint32_t pc, uint32_t region, uint64_t offset) {
  w.shadow = m.pool->shadow(static_cast<ResidentBlock&>(*m.block), w);
  w.tainted = true;
  w.origin = {pc, region, offset};
  if (m.must_be_clean) m.stop = true;
}

void end_taint_if_clean(const Machine& m, Warp& w) {
  const std::byte* end = w.shadow + m.launch.code->file_bytes;
  if (std::all_of(w.shadow, const_cast<std::byte*>(end),
                  [](std::byte b) { return b == std::byte{0}; }))
    w.tainted = false;
}

void undefined_global_bits(const Region& region, uint64_t offset, uint32_t bytes, std::byte* bits) {
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
  Region& region = m.memory.row(number);
  if (bits == nullptr) {
    if (region.undefined != nullptr) std::memset(region.undefined + offset, 0, access.bytes);
    return;
  }
  if (region.reports_undefined) {
    const Subject subject = region_subject(m, number, static_cast<int64_t>(offset));
    report_undefined(m, *access.warp, access.pc, access.lane,
                     fmt::format("stores an undefined value to {}", subject_text(subject)));
    return;
  }
  m.memory.ensure_undefined(region);
  std::memcpy(region.undefined + offset, bits, access.bytes);
  const uint64_t first = offset >> region.unit_log2;
  for (uint64_t u = first; u < first + (access.bytes >> region.unit_log2); ++u)
    region.writes[u] |= global_stamp::kUndefined;
}

void mark_shared(Machine& m, uint32_t offset, uint32_t bytes, const std::byte* bits) {
  auto& block = static_cast<ResidentBlock&>(*m.block);
  if (bits == nullptr) return;  // the new stamp already says "defined"
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

void report_undefined(Machine& m, Warp& w, uint32_t pc, int lane, const std::string& what) {
  const Subject subject = origin_subject(m, w.origin);
  Actor origin = actor(m, w, lane, w.origin.pc);
  report(
      m, FindingKind::UninitialisedUse, Certainty::Certain, actor(m, w, lane, pc), subject, origin,
      [&] {
        const int line = place_of(*m.launch.code, w.origin.pc).line;
        const bool shared = w.origin.region == kSharedRegion;
        return fmt::format(
            "{}: it comes from {}, read at line {} where {}", what, subject_text(subject), line,
            shared ? "it is uninitialised (or its writer is not waited for)"
                   : "nothing was written to it yet");
      },
      w.origin.pc);
}

}  // namespace kw::vgpu
