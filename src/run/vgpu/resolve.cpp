// Turns an address into bytes of the host. Every address names its region in its upper bits. So the
// finding of a bad access can name the buffer, even far out of bounds. Shared and local variables
// have guard zones between them, so that an index past one variable does not silently hit the next.
// A refused access reports one finding with the element and the distance past the end; the run
// continues without the access. The cost is that addresses differ from those of a real device.
#include "vgpu/resolve.h"

#include <cstring>

#include <fmt/core.h>

#include "vgpu/address.h"
#include "vgpu/report.h"

namespace kw::vgpu {
namespace {

constexpr uint64_t kNearNull = uint64_t{1} << 32;  // a null pointer plus any 32-bit index

struct Access {
  Machine& m;
  Actor who;
  uint32_t bytes;
  bool store;
  const char* verb() const { return store ? "writes" : "reads"; }
};

Target refuse(const Access& a, FindingKind kind, const Subject& subject,
              const std::function<std::string()>& message) {
  report(a.m, kind, Certainty::Certain, a.who, subject, std::nullopt, message);
  return {};
}

std::string outside(const Access& a, const Subject& subject) {
  std::string where;
  if (subject.element < 0)
    where = fmt::format("{} before its start", -subject.element);
  else if (subject.element == subject.extent)
    where = "one past the end";
  else
    where = fmt::format("{} past the end", subject.element - subject.extent + 1);
  return fmt::format("{} {}, {} ({} has {} {})", a.verb(), subject_text(subject), where,
                     subject.name, subject.extent, subject.in_bytes ? "bytes" : "elements");
}

Target misaligned(const Access& a, const Subject& subject, uint64_t address) {
  return refuse(a, FindingKind::Misaligned, subject, [&] {
    return fmt::format("{} {} bytes at {}, an address {} bytes past a multiple of {}", a.verb(),
                       a.bytes, subject_text(subject), address % a.bytes, a.bytes);
  });
}

Target global(const Access& a, uint64_t address) {
  const uint32_t number = a.m.map.region_of(address);
  const bool exists = number < a.m.region_count && a.m.regions[number].data != nullptr;
  if (!exists) {
    if (address < kNearNull || address > 0 - kNearNull) {
      return refuse(a, FindingKind::NullPointer, {}, [&] {
        return fmt::format("{} {} bytes through a null pointer (address {:#x})", a.verb(), a.bytes,
                           address);
      });
    }
    return refuse(a, FindingKind::InvalidAddress, {}, [&] {
      return fmt::format("{} {} bytes at {:#x}, which lies in no buffer", a.verb(), a.bytes,
                         address);
    });
  }
  MemoryRegion& region = a.m.regions[number];
  const uint64_t offset = address - region.base;
  if (offset >= region.size || offset + a.bytes > region.size) {
    // The first byte outside decides which element is named.
    int64_t bad = static_cast<int64_t>(offset);
    if (bad >= 0 && offset < region.size) bad = static_cast<int64_t>(region.size);
    const Subject subject = region_subject(a.m, number, bad, a.who.pc);
    return refuse(a, FindingKind::OutOfBoundsGlobal, subject, [&] { return outside(a, subject); });
  }
  const Subject subject = region_subject(a.m, number, static_cast<int64_t>(offset), a.who.pc);
  if (address % a.bytes != 0) return misaligned(a, subject, address);
  if (a.store && !region.writable) {
    const FindingKind kind =
        region.constant ? FindingKind::WriteToConstant : FindingKind::WriteToInput;
    return refuse(a, kind, subject, [&] {
      return fmt::format("writes {}, which is {}", subject_text(subject),
                         region.constant ? "constant memory" : "an input");
    });
  }
  return {Target::Kind::Global, region.data + offset, offset, number};
}

Target shared(const Access& a, uint64_t offset) {
  const Block& block = *a.m.block;
  bool inside = offset < block.shared_bytes && offset + a.bytes <= block.shared_bytes;
  if (inside && offset % a.bytes == 0) {
    const uint64_t first = offset >> block.unit_log2;
    for (uint64_t u = first; u < first + (a.bytes >> block.unit_log2); ++u)
      inside = inside && block.shared_writes[u] != shared_stamp::kRedZone;
  }
  if (!inside) {
    const Subject subject = shared_subject(a.m, static_cast<int64_t>(offset), a.who.pc);
    return refuse(a, FindingKind::OutOfBoundsShared, subject, [&] {
      if (subject.name.empty())
        return fmt::format("{} shared memory, but the kernel has none (shared address {})",
                           a.verb(), offset);
      return outside(a, subject);
    });
  }
  if (offset % a.bytes != 0)
    return misaligned(a, shared_subject(a.m, static_cast<int64_t>(offset), a.who.pc), offset);
  return {Target::Kind::Shared, block.shared + offset, offset, kSharedRegion};
}

Target local(const Access& a, Warp& w, int lane, uint64_t offset) {
  const Code& code = *a.m.launch.code;
  const Subject subject = local_subject(a.m, static_cast<int64_t>(offset), a.who.pc);
  for (const WindowVariable& variable : code.local) {
    if (offset < variable.offset || offset + a.bytes > uint64_t{variable.offset} + variable.bytes)
      continue;
    if (offset % a.bytes != 0) return misaligned(a, subject, offset);
    const uint64_t at = uint64_t{code.local_bytes} * static_cast<uint64_t>(lane) + offset;
    return {Target::Kind::Local, w.local + at, at, kLocalRegion};
  }
  uint32_t used = 0;
  if (code.stack_start != 0) std::memcpy(&used, w.regs + code.stack_slot + lane * 4, 4);
  if (code.stack_start != 0 && offset >= code.stack_start &&
      offset + a.bytes <= uint64_t{code.stack_start} + used) {
    if (offset % a.bytes != 0) return misaligned(a, subject, offset);
    const uint64_t at = uint64_t{code.local_bytes} * static_cast<uint64_t>(lane) + offset;
    return {Target::Kind::Local, w.local + at, at, kLocalRegion};
  }
  return refuse(a, FindingKind::OutOfBoundsLocal, subject, [&] {
    if (subject.name.empty())
      return fmt::format("{} {} bytes of local memory, but the thread has no local array", a.verb(),
                         a.bytes);
    return outside(a, subject);
  });
}

Target param(const Access& a, uint64_t offset) {
  const uint64_t at = offset - kWindowStart;
  const bool inside = offset >= kWindowStart && at + a.bytes <= a.m.launch.code->param_bytes;
  if (!inside || a.store) {
    return refuse(a, FindingKind::InvalidAddress, {}, [&] {
      return fmt::format("{} {} bytes at offset {} of the kernel's parameters", a.verb(), a.bytes,
                         static_cast<int64_t>(at));
    });
  }
  if (at % a.bytes != 0) return misaligned(a, {"parameters", static_cast<int64_t>(at)}, at);
  return {Target::Kind::Param, const_cast<std::byte*>(a.m.params) + at, at, kParamRegion};
}

}  // namespace

uint64_t lane_address(const Warp& w, const MemOp& op, int lane) {
  uint64_t address = 0;
  const int width = op.address64 ? 8 : 4;
  std::memcpy(&address, w.regs + op.address + lane * width, width);
  address += static_cast<uint64_t>(op.offset);
  return op.address64 ? address : address & 0xffffffff;
}

Target resolve(Machine& m, Warp& w, int lane, uint32_t pc, ptx::Space space, uint64_t address,
               uint32_t bytes, bool store) {
  const Access attempt{m, actor(m, w, lane, pc), bytes, store};
  if (space == ptx::Space::Generic) {
    switch (m.map.region_of(address)) {
      case kSharedRegion:
        return shared(attempt, address - m.map.window(kSharedRegion));
      case kLocalRegion:
        return local(attempt, w, lane, address - m.map.window(kLocalRegion));
      case kParamRegion:
        return param(attempt, address - m.map.window(kParamRegion));
      default:
        return global(attempt, address);
    }
  }
  switch (space) {
    case ptx::Space::Shared:
      return shared(attempt, address);
    case ptx::Space::Local:
      return local(attempt, w, lane, address);
    case ptx::Space::Param:
      return param(attempt, address);
    default:
      return global(attempt, address);
  }
}

}  // namespace kw::vgpu
