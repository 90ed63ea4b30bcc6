// Counts the work of each instruction; compiled once per x86-64 level. Sectors and bank conflicts
// depend on all 32 addresses of a request. Two patterns cover most requests, all lanes at one
// address and lanes in a row, and they need only one vector pass. All others are counted exactly
// with a hash set of at most 64 entries on the stack.
#include "vgpu/address.h"
#include "vgpu/hot.h"
#include "vgpu/instruction_counts.h"
#include "vgpu/levels.h"
#include "vgpu/machine.h"

namespace kw::vgpu::KW_SIMD_LEVEL {
namespace {

constexpr uint64_t kSectorLog2 = 5;
constexpr int kBanks = 32;

enum class Where { Global, Shared, Local, Other };

/// The addresses of one request.
struct Request {
  const uint64_t* addresses;
  uint32_t mask;
  uint32_t bytes;  // per lane
};

/// At most 64 different numbers, found by hashing.
class SmallSet {
 public:
  /// Returns false when the number is already in the set.
  KW_LANE bool insert(uint64_t value) {
    uint32_t at = static_cast<uint32_t>((value * 0x9e3779b97f4a7c15u) >> 58);
    while ((used_ >> at & 1) != 0) {
      if (slots_[at] == value) return false;
      at = (at + 1) & 63;
    }
    used_ |= uint64_t{1} << at;
    slots_[at] = value;
    return true;
  }

 private:
  uint64_t used_ = 0;
  uint64_t slots_[64];
};

enum class Pattern { Same, Row, Other };

KW_LANE Pattern pattern_of(const Request& r) {
  const uint64_t first = r.addresses[first_lane(r.mask)];
  const uint64_t start = first - static_cast<uint64_t>(first_lane(r.mask)) * r.bytes;
  uint64_t moved = 0, uneven = 0;
  for (int i = 0; i < kLanes; ++i) {
    const bool active = (r.mask & kLaneBit64[i]) != 0;
    moved |= active ? r.addresses[i] ^ first : 0;
    uneven |= active ? r.addresses[i] - (start + static_cast<uint64_t>(i) * r.bytes) : 0;
  }
  if (moved == 0) return Pattern::Same;
  return uneven == 0 && is_range(r.mask) ? Pattern::Row : Pattern::Other;
}

// The number of distinct 32-byte sectors of one request.
uint64_t scattered_sectors(const Request& r) {
  SmallSet touched;
  uint64_t count = 0;
  for (uint32_t rest = r.mask; rest != 0; rest &= rest - 1) {
    const uint64_t at = r.addresses[first_lane(rest)];
    for (uint64_t s = at >> kSectorLog2; s <= (at + r.bytes - 1) >> kSectorLog2; ++s)
      count += touched.insert(s) ? 1 : 0;
  }
  return count;
}

// A request is served in parts: a 64-bit access by half-warps, a 128-bit access by quarter-warps.
KW_LANE int parts_of(uint32_t bytes) { return bytes >= 16 ? 4 : bytes >= 8 ? 2 : 1; }
KW_LANE uint32_t part_mask(int parts, int part) {
  const int lanes = kLanes / parts;
  return lanes == kLanes ? ~0u : ((1u << lanes) - 1) << (part * lanes);
}

// The words of a 128-byte window are in different banks.
KW_LANE bool within_window(const Request& r) {
  const uint64_t any = r.addresses[first_lane(r.mask)];
  uint64_t low = any, high = any;
  for (int i = 0; i < kLanes; ++i) {
    const uint64_t at = (r.mask & kLaneBit64[i]) != 0 ? r.addresses[i] : any;
    low = at < low ? at : low;
    high = at > high ? at : high;
  }
  return (high + r.bytes - 1) / 4 - low / 4 < kBanks;
}

// The bank with the most words decides; lanes that access the same word share it.
uint64_t part_wavefronts(const Request& r) {
  if (within_window(r)) return 1;
  SmallSet words;
  uint32_t per_bank[kBanks] = {}, most = 0;
  for (uint32_t rest = r.mask; rest != 0; rest &= rest - 1) {
    const uint64_t at = r.addresses[first_lane(rest)];
    for (uint64_t word = at / 4; word <= (at + r.bytes - 1) / 4; ++word) {
      if (!words.insert(word)) continue;
      const uint32_t now = ++per_bank[word % kBanks];
      most = now > most ? now : most;
    }
  }
  return most;
}

uint64_t wavefronts(const Request& r, bool least) {
  const int parts = parts_of(r.bytes);
  uint64_t total = 0;
  for (int part = 0; part < parts; ++part) {
    const uint32_t mask = part_mask(parts, part) & r.mask;
    if (mask != 0)
      total += least ? 1 : part_wavefronts({r.addresses, mask, r.bytes < 16 ? r.bytes : 16});
  }
  return r.bytes > 16 ? 2 * total : total;
}

KW_LANE Where where(const AddressMap& map, const MemOp& op, uint64_t address) {
  switch (op.space) {
    case ptx::Space::Shared:
      return Where::Shared;
    case ptx::Space::Local:
      return Where::Local;
    case ptx::Space::Global:
    case ptx::Space::Const:
      return Where::Global;
    case ptx::Space::Param:
      return Where::Other;
    default:
      break;
  }
  const uint32_t region = map.region_of(address);
  if (region == kSharedRegion) return Where::Shared;
  if (region == kLocalRegion) return Where::Local;
  return region == kParamRegion ? Where::Other : Where::Global;
}

void count_part(InstCounts& row, Where place, const Request& r) {
  const uint64_t volume = uint64_t{r.bytes} * static_cast<uint64_t>(__builtin_popcount(r.mask));
  const Pattern pattern = pattern_of(r);
  if (place == Where::Shared) {
    const uint64_t least = wavefronts(r, true);
    const uint64_t fronts = pattern == Pattern::Other ? wavefronts(r, false) : least;
    ++row.shared_requests;
    row.shared_wavefronts += fronts;
    row.shared_bytes += volume;
    row.conflicts += fronts - least;
  } else if (place == Where::Local) {
    row.local_bytes += volume;
  } else if (place == Where::Global) {
    ++row.requests;
    row.bytes += volume;
    const uint64_t first = r.addresses[first_lane(r.mask)], last = r.addresses[last_lane(r.mask)];
    row.sectors += pattern == Pattern::Other
                       ? scattered_sectors(r)
                       : ((last + r.bytes - 1) >> kSectorLog2) - (first >> kSectorLog2) + 1;
  }
}

KW_LANE void lane_addresses(const Warp& w, const MemOp& op, uint64_t* addresses) {
  const uint64_t offset = static_cast<uint64_t>(op.offset);
  if (op.address64) {
    const U64* from = lanes64(w.regs, op.address);
    for (int i = 0; i < kLanes; ++i) addresses[i] = from[i] + offset;
  } else {
    const U32* from = lanes32(w.regs, op.address);
    for (int i = 0; i < kLanes; ++i) addresses[i] = static_cast<uint32_t>(from[i] + offset);
  }
}

}  // namespace

void count_addresses(Machine& m, uint32_t pc, const MemOp& op, const uint64_t* addresses,
                     uint32_t mask) {
  InstCounts& row = m.counters->rows[pc];
  if (op.space != ptx::Space::Generic) {
    count_part(row, where(m.map, op, 0), {addresses, mask, op.total});
    return;
  }
  uint32_t parts[4] = {};
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    parts[static_cast<int>(where(m.map, op, addresses[lane]))] |= 1u << lane;
  }
  for (int part = 0; part < 4; ++part) {
    if (parts[part] != 0)
      count_part(row, static_cast<Where>(part), {addresses, parts[part], op.total});
  }
}

void count_access(Machine& m, Warp& w, uint32_t pc, const MemOp& op, uint32_t mask) {
  alignas(64) uint64_t addresses[kLanes];
  lane_addresses(w, op, addresses);
  KW_SIMD_LEVEL::count_addresses(m, pc, op, addresses, mask);
}

void count_atomic(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  const MemOp& op = m.atomics[m.code[pc].target].mem;
  alignas(64) uint64_t addresses[kLanes];
  lane_addresses(w, op, addresses);
  KW_SIMD_LEVEL::count_addresses(m, pc, op, addresses, mask);
  SmallSet taken;
  uint64_t again = 0;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
    again += taken.insert(addresses[first_lane(rest)]) ? 0 : 1;
  m.counters->rows[pc].serialised += again;
}

void count_instruction(Machine& m, uint32_t pc, uint32_t group, uint32_t mask) {
  InstCounts& row = m.counters->rows[pc];
  const bool branch = m.code[pc].op == Op::Branch;
  ++row.executed;
  row.lanes += static_cast<uint64_t>(__builtin_popcount(branch ? group : mask));
  row.divergent += branch && mask != 0 && mask != group;
}

}  // namespace kw::vgpu::KW_SIMD_LEVEL
