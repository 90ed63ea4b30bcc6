#include "vgpu/counters.h"

#include <algorithm>
#include <map>

#include "vgpu/address.h"
#include "vgpu/machine.h"
#include "vgpu/resolve.h"
#include "vgpu/slow_ops.h"

namespace kw::vgpu {
namespace {

using record::CounterValues;
using record::InstClass;

constexpr uint64_t kSectorLog2 = 5;
constexpr int kBanks = 32;

// Distinct values among `count` numbers; lanes usually come in order, so sorting is cheap.
int distinct(uint64_t* values, int count) {
  std::sort(values, values + count);
  return static_cast<int>(std::unique(values, values + count) - values);
}

// Distinct 32-byte sectors of one request.
uint64_t sectors(const uint64_t* addresses, uint32_t mask, uint32_t bytes) {
  uint64_t touched[kLanes * 2];
  int count = 0;
  bool sorted = true;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint64_t at = addresses[__builtin_ctz(rest)];
    for (uint64_t s = at >> kSectorLog2; s <= (at + bytes - 1) >> kSectorLog2; ++s) {
      if (count > 0 && touched[count - 1] == s) continue;
      sorted = sorted && (count == 0 || touched[count - 1] < s);
      touched[count++] = s;
    }
  }
  return static_cast<uint64_t>(sorted ? count : distinct(touched, count));
}

// Wavefronts of one part of a request: the busiest bank decides, same words are read once.
uint64_t wavefronts_of(const uint64_t* addresses, uint32_t mask, uint32_t bytes) {
  uint64_t words[kLanes * 4], first[kBanks];
  int count = 0;
  uint32_t used = 0;
  bool conflict = false;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint64_t at = addresses[__builtin_ctz(rest)];
    for (uint64_t word = at / 4; word <= (at + bytes - 1) / 4; ++word) {
      const uint64_t bank = word % kBanks;
      conflict = conflict || ((used >> bank & 1) != 0 && first[bank] != word);
      used |= 1u << bank;
      first[bank] = word;
      words[count++] = word;
    }
  }
  if (!conflict) return 1;
  count = distinct(words, count);
  uint32_t per_bank[kBanks] = {};
  uint32_t most = 0;
  for (int i = 0; i < count; ++i) most = std::max(most, ++per_bank[words[i] % kBanks]);
  return most;
}

// 64-bit accesses go half-warp by half-warp, 128-bit ones by quarters, as the hardware does.
uint64_t wavefronts(const uint64_t* addresses, uint32_t mask, uint32_t bytes) {
  const int parts = bytes >= 16 ? 4 : bytes >= 8 ? 2 : 1;
  const int lanes = kLanes / parts;
  uint64_t total = 0;
  for (int part = 0; part < parts; ++part) {
    const uint32_t window = (lanes == 32 ? ~0u : ((1u << lanes) - 1) << (part * lanes)) & mask;
    if (window != 0) total += wavefronts_of(addresses, window, std::min(bytes, 16u));
  }
  return total * (bytes > 16 ? 2 : 1);
}

uint64_t least_wavefronts(uint32_t mask, uint32_t bytes) {
  const int parts = bytes >= 16 ? 4 : bytes >= 8 ? 2 : 1;
  const int lanes = kLanes / parts;
  uint64_t total = 0;
  for (int part = 0; part < parts; ++part)
    total += ((lanes == 32 ? ~0u : ((1u << lanes) - 1) << (part * lanes)) & mask) != 0;
  return total * (bytes > 16 ? 2 : 1);
}

bool contiguous(const uint64_t* addresses, uint32_t mask, uint32_t bytes) {
  if (mask != ~0u) return false;
  for (int i = 1; i < kLanes; ++i) {
    if (addresses[i] != addresses[0] + static_cast<uint64_t>(i) * bytes) return false;
  }
  return true;
}

enum class Where { Global, Shared, Local, Other };

Where where(const MemOp& op, uint64_t address) {
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
  const uint32_t region = region_of(address);
  if (region == kSharedRegion) return Where::Shared;
  if (region == kLocalRegion) return Where::Local;
  return region == kParamRegion ? Where::Other : Where::Global;
}

void count_part(InstCounts& row, Where place, const uint64_t* addresses, uint32_t mask,
                uint32_t bytes) {
  const uint64_t volume = uint64_t{bytes} * static_cast<uint64_t>(__builtin_popcount(mask));
  if (place == Where::Shared) {
    const uint64_t fronts = contiguous(addresses, mask, bytes) ? least_wavefronts(mask, bytes)
                                                               : wavefronts(addresses, mask, bytes);
    ++row.shared_requests;
    row.shared_wavefronts += fronts;
    row.shared_bytes += volume;
    row.conflicts += fronts - std::min(fronts, least_wavefronts(mask, bytes));
  } else if (place == Where::Local) {
    row.local_bytes += volume;
  } else if (place == Where::Global) {
    ++row.requests;
    row.bytes += volume;
    if (contiguous(addresses, mask, bytes))
      row.sectors +=
          ((addresses[31] + bytes - 1) >> kSectorLog2) - (addresses[0] >> kSectorLog2) + 1;
    else
      row.sectors += sectors(addresses, mask, bytes);
  }
}

}  // namespace

void count_addresses(Machine& m, uint32_t pc, const MemOp& op, const uint64_t* addresses,
                     uint32_t mask) {
  InstCounts& row = m.counters->rows[pc];
  uint32_t parts[4] = {};
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    parts[static_cast<int>(where(op, addresses[lane]))] |= 1u << lane;
  }
  for (int part = 0; part < 4; ++part) {
    if (parts[part] != 0)
      count_part(row, static_cast<Where>(part), addresses, parts[part], op.total);
  }
}

namespace {

void count_memory(Machine& m, Warp& w, uint32_t pc, const MemOp& op, uint32_t mask) {
  uint64_t addresses[kLanes] = {};
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    addresses[lane] = lane_address(w, op, lane);
  }
  count_addresses(m, pc, op, addresses, mask);
}

InstClass alu_class(isa::AluClass c) {
  switch (c) {
    case isa::AluClass::Integer:
      return InstClass::Integer;
    case isa::AluClass::Float16:
      return InstClass::Float16;
    case isa::AluClass::Float32:
      return InstClass::Float32;
    case isa::AluClass::Float64:
      return InstClass::Float64;
    case isa::AluClass::Special:
      return InstClass::Special;
    case isa::AluClass::Convert:
      return InstClass::Convert;
    case isa::AluClass::Move:
      return InstClass::Move;
    case isa::AluClass::Predicate:
      return InstClass::Predicate;
  }
  return InstClass::Other;
}

// Generic accesses are filed under the space most of them met.
InstClass memory_class(const MemOp& op, const InstCounts& row) {
  const bool store = op.is_store;
  if (op.space == ptx::Space::Const) return InstClass::LoadConst;
  const bool shared = op.space == ptx::Space::Shared ||
                      (op.space == ptx::Space::Generic && row.shared_requests > row.requests);
  const bool local = op.space == ptx::Space::Local ||
                     (op.space == ptx::Space::Generic && row.local_bytes > 0 && row.requests == 0);
  if (shared) return store ? InstClass::StoreShared : InstClass::LoadShared;
  if (local) return store ? InstClass::StoreLocal : InstClass::LoadLocal;
  return store ? InstClass::StoreGlobal : InstClass::LoadGlobal;
}

InstClass class_of(const Code& code, const Inst& in, const InstCounts& row) {
  switch (in.op) {
    case Op::Alu:
      return alu_class(code.alus[in.target].cls);
    case Op::LoadGlobal:
    case Op::StoreGlobal:
    case Op::LoadShared:
    case Op::StoreShared:
    case Op::LoadOther:
    case Op::StoreOther:
      return memory_class(code.mems[in.target], row);
    case Op::LoadParam:
      return InstClass::LoadConst;
    case Op::AsyncCopy:
      return InstClass::LoadGlobal;
    case Op::Atomic:
      return InstClass::Atomic;
    case Op::AddressToWindow:
    case Op::AddressFromWindow:
    case Op::LoadFrame:
    case Op::StoreFrame:
    case Op::CopyFrames:
    case Op::CopyIndirectFrames:
      return InstClass::Move;
    case Op::IsSpace:
      return InstClass::Predicate;
    case Op::Branch:
    case Op::BranchIndexed:
    case Op::Call:
    case Op::CallIndirect:
    case Op::Return:
    case Op::Exit:
      return InstClass::Control;
    case Op::TensorLoad:
    case Op::TensorStore:
    case Op::TensorMma:
      return InstClass::Tensor;
    case Op::Barrier:
      return InstClass::Barrier;
    case Op::WarpSync:
    case Op::Shuffle:
    case Op::Vote:
    case Op::Match:
    case Op::Redux:
    case Op::ActiveMask:
    case Op::Elect:
      return InstClass::Collective;
    default:
      return InstClass::Other;
  }
}

void add_flops(const isa::Alu& alu, const InstCounts& row, CounterValues& values) {
  const uint64_t flops = row.lanes * alu.flops;
  if (alu.cls == isa::AluClass::Float16) values.flops_fp16 += flops;
  if (alu.cls == isa::AluClass::Float32 || alu.cls == isa::AluClass::Special)
    values.flops_fp32 += flops;
  if (alu.cls == isa::AluClass::Float64) values.flops_fp64 += flops;
}

void add_memory(bool store, const InstCounts& row, CounterValues& v) {
  (store ? v.global_store_requests : v.global_load_requests) += row.requests;
  (store ? v.global_store_sectors : v.global_load_sectors) += row.sectors;
  (store ? v.global_store_bytes : v.global_load_bytes) += row.bytes;
  (store ? v.shared_store_requests : v.shared_load_requests) += row.shared_requests;
  (store ? v.shared_store_wavefronts : v.shared_load_wavefronts) += row.shared_wavefronts;
  (store ? v.shared_store_bytes : v.shared_load_bytes) += row.shared_bytes;
  v.shared_bank_conflicts += row.conflicts;
  v.local_bytes += row.local_bytes;
}

CounterValues values_of(const Code& code, uint32_t pc, const InstCounts& row) {
  const Inst& in = code.insts[pc];
  CounterValues v;
  v.warp_instructions[static_cast<int>(class_of(code, in, row))] = row.executed;
  v.warp_total = row.executed;
  v.lane_total = row.lanes;
  switch (in.op) {
    case Op::Alu:
      add_flops(code.alus[in.target], row, v);
      break;
    case Op::Branch:
      v.branches = row.executed;
      v.divergent_branches = row.divergent;
      break;
    case Op::Barrier:
      v.barriers = row.executed;
      break;
    case Op::Atomic:
      v.atomic_requests = row.requests + row.shared_requests;
      v.atomic_lanes = row.lanes;
      v.atomic_serialised = row.serialised;
      break;
    case Op::LoadGlobal:
    case Op::LoadShared:
    case Op::LoadOther:
    case Op::StoreGlobal:
    case Op::StoreShared:
    case Op::StoreOther:
      add_memory(code.mems[in.target].is_store, row, v);
      break;
    case Op::AsyncCopy:
    case Op::TensorLoad:
      add_memory(false, row, v);
      break;
    case Op::TensorStore:
      add_memory(true, row, v);
      break;
    case Op::TensorMma: {
      const TensorInst& t = code.tensors[in.target];
      v.flops_tensor =
          row.executed * 2 * static_cast<uint64_t>(t.d.rows * t.d.columns * t.a.columns);
      break;
    }
    default:
      break;
  }
  return v;
}

}  // namespace

void count_instruction(Machine& m, uint32_t pc, uint32_t group, uint32_t mask) {
  InstCounts& row = m.counters->rows[pc];
  const Op op = m.code[pc].op;
  const bool branch = op == Op::Branch;
  ++row.executed;
  row.lanes += static_cast<uint64_t>(__builtin_popcount(branch ? group : mask));
  row.divergent += branch && mask != 0 && mask != group;
}

void count_access(Machine& m, Warp& w, uint32_t pc, const MemOp& op, uint32_t mask) {
  count_memory(m, w, pc, op, mask);
}

void count_atomic(Machine& m, Warp& w, uint32_t pc, uint32_t mask) {
  const AtomicInst& atom = m.atomics[m.code[pc].target];
  count_memory(m, w, pc, atom.mem, mask);
  uint64_t addresses[kLanes];
  int count = 0;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1)
    addresses[count++] = lane_address(w, atom.mem, __builtin_ctz(rest));
  m.counters->rows[pc].serialised += static_cast<uint64_t>(count - distinct(addresses, count));
}

record::LaunchCounters summarise(const Code& code, const CounterTable& table) {
  record::LaunchCounters result;
  std::map<std::pair<std::string, int>, CounterValues> lines;
  for (uint32_t pc = 0; pc < table.rows.size(); ++pc) {
    if (table.rows[pc].executed == 0) continue;
    const CounterValues values = values_of(code, pc, table.rows[pc]);
    const SourcePlace& place = code.places[pc];
    const size_t file = static_cast<size_t>(place.file);
    lines[{file < code.files.size() ? code.files[file] : "", place.line}] += values;
    result.total += values;
  }
  for (auto& [key, values] : lines) result.lines.push_back({key.first, key.second, values});
  return result;
}

}  // namespace kw::vgpu
