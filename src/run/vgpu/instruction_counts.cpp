// Turns the counts of each instruction into the counters of a launch. Counting happens in the warp
// loop per instruction, with few fields, because that code is hot. Here each count gets its
// meaning: the class of the instruction, its flops, its memory traffic, its source line. The
// alternative, counting per line while running, would need a map in the inner loop. The cost is one
// row per instruction of the kernel.
#include "vgpu/instruction_counts.h"

#include <iterator>
#include <map>

namespace kw::vgpu {
namespace {

using record::CounterValues;
using record::InstClass;

InstClass alu_class(isa::AluClass c) {
  // In the order of enum AluClass.
  constexpr InstClass kClasses[] = {InstClass::Integer, InstClass::Float16,  InstClass::Float32,
                                    InstClass::Float64, InstClass::Special,  InstClass::Convert,
                                    InstClass::Move,    InstClass::Predicate};
  static_assert(std::size(kClasses) == static_cast<size_t>(isa::AluClass::Predicate) + 1);
  return kClasses[static_cast<size_t>(c)];
}

// A generic access gets the class of the space that most of its requests used.
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
    case Op::Divide:
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
    case Op::EnterFrame:
    case Op::Undefine:
    case Op::RestoreFrame:
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
    case Op::GroupMma:
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
    case Op::Divide:
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
    case Op::GroupMma: {
      const GroupProduct& p = code.group_products[in.target];
      v.flops_tensor = row.executed * 2 * static_cast<uint64_t>(kGroupRows * p.columns * p.depth);
      break;
    }
    default:
      break;
  }
  return v;
}

}  // namespace

record::LaunchCounters summarise(const Code& code, const std::vector<InstCounts>& table) {
  record::LaunchCounters result;
  std::map<std::pair<std::string, int>, CounterValues> lines;
  for (uint32_t pc = 0; pc < table.size(); ++pc) {
    if (table[pc].executed == 0) continue;
    const CounterValues values = values_of(code, pc, table[pc]);
    const SourcePlace& place = code.places[pc];
    const size_t file = static_cast<size_t>(place.file);
    lines[{file < code.files.size() ? code.files[file] : "", place.line}] += values;
    result.total += values;
  }
  for (auto& [key, values] : lines) result.lines.push_back({key.first, key.second, values});
  return result;
}

}  // namespace kw::vgpu
