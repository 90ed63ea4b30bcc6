// Decodes loads, stores, atomics and address conversions. A MemOp holds everything the warp loop
// needs: space, order, widths, slots and the two move functions. Modifiers are checked against a
// list; an unknown one is refused, because it could change the result. Cache hints are accepted and
// have no effect. A .param of a call is memory in PTX but bytes of the register file here, so it
// gets instructions of its own. note_access collects facts about the whole kernel: whether blocks
// must run in order, and the smallest shared unit.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "vgpu/address.h"
#include "vgpu/decoder.h"
#include "vgpu/move.h"
#include "vgpu/registers.h"

namespace kw::vgpu {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;

bool is_signed(Type type) {
  return type == Type::S8 || type == Type::S16 || type == Type::S32 || type == Type::S64;
}

Order order_of(const Instruction& in) {
  if (in.has("acq_rel")) return Order::AcquireRelease;
  if (in.has("acquire")) return Order::Acquire;
  if (in.has("release")) return Order::Release;
  if (in.has("volatile") || in.has("relaxed") || in.has("mmio")) return Order::Strong;
  return Order::Weak;
}

// Modifiers of a load or store, besides its type and space, that are supported or do not change the
// result.
bool known_modifier(const std::string& m) {
  static constexpr std::array kKnown = {
      "weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio",  "cta",
      "gpu",  "sys",      "cluster", "nc",      "ca",      "cg",      "cs",    "lu",
      "cv",   "wb",       "wt",      "v2",      "v4",      "v8",      "noftz", "unified"};
  if (m.rfind("L1::", 0) == 0 || m.rfind("L2::", 0) == 0) return true;
  return std::find(kKnown.begin(), kKnown.end(), m) != kKnown.end();
}

bool is_space_modifier(const std::string& m) {
  return m == "global" || m == "const" || m == "local" || m.rfind("shared", 0) == 0 ||
         m.rfind("param", 0) == 0;
}

bool only_known_modifiers(const Instruction& in) {
  if (in.types.size() != 1) return false;
  return std::all_of(in.modifiers.begin(), in.modifiers.end(), [&](const std::string& m) {
    return known_modifier(m) || is_space_modifier(m) || m == ptx::type_name(in.types.back());
  });
}

}  // namespace

bool Decoder::memory_shape(const Instruction& in, MemOp& mem, bool allow_vector) {
  if (in.types.empty()) return false;
  const Type type = in.types.back();
  mem.space = in.space;
  mem.order = order_of(in);
  if (in.has("cta") || in.space == Space::Shared) mem.scope = MemoryScope::Block;
  mem.width = static_cast<uint8_t>(ptx::type_size(type));
  mem.sign = is_signed(type);
  mem.count = in.has("v2") ? 2 : in.has("v4") ? 4 : in.has("v8") ? 8 : 1;
  if (mem.count > 1 && !allow_vector) return false;
  const int total = mem.width * mem.count;
  mem.total = static_cast<uint8_t>(total);
  return total > 0 && total <= 32;
}

bool Decoder::data_slots(const Operand& operand, MemOp& mem) {
  std::vector<const Operand*> list;
  if (operand.kind == Operand::Kind::Vector) {
    for (const Operand& element : operand.elements) list.push_back(&element);
  } else {
    list.push_back(&operand);
  }
  if (list.size() != mem.count) return false;
  // Registers may be wider than the data. Immediates and discards take the width of a register in
  // the list.
  int width = std::max<int>(2, mem.width);
  for (const Operand* one : list) {
    if (one->kind == Operand::Kind::Register)
      width = register_width(function().registers[one->reg].type);
  }
  if (width < mem.width || width == 0) return false;
  mem.reg_width = static_cast<uint8_t>(width);
  for (size_t i = 0; i < list.size(); ++i) {
    const auto slot = mem.is_store ? source(*list[i], width, instruction_->types.back())
                                   : destination(*list[i], width);
    if (!slot) return false;
    mem.data[i] = *slot;
  }
  return true;
}

// Collects facts about all accesses of a kernel that the run needs before it starts.
void Decoder::note_access(const MemOp& mem, bool orders) {
  const bool shared = mem.space == Space::Shared || mem.space == Space::Generic;
  const bool global = mem.space == Space::Global || mem.space == Space::Generic;
  if (shared) {
    uint8_t log2 = 0;
    while ((2 << log2) <= mem.total && log2 < 4) ++log2;
    code_.shared_unit_log2 = std::min(code_.shared_unit_log2, log2);
  }
  if (global && orders) code_.serial = code_.has_sync = true;
  if (global && mem.is_store && mem.order > Order::Seed) code_.has_strong_stores = true;
}

bool Decoder::load(const Instruction& in) {
  if (!only_known_modifiers(in)) return false;
  MemOp mem;
  if (!memory_shape(in, mem, true) || in.operands.size() < 2) return false;
  const Operand& where = in.operands[1];
  if (!data_slots(in.operands[0], mem)) return false;
  if (mem.space == Space::Param) {
    const ptx::Variable* variable = variable_of(where);
    if (variable != nullptr && where.param >= 0 && function().is_entry) {
      const ParamSlot& param = code_.params[where.param];
      const int64_t at = param.offset + where.offset;
      if (where.offset < 0 || at + mem.total > int64_t{param.offset} + param.bytes)
        return refuse("ld.param reads outside its parameter");
      mem.offset = at;
      if (!choose_moves(mem)) return false;
      Inst& inst = emit(Op::LoadParam);
      inst.target = static_cast<uint32_t>(code_.mems.size());
      code_.mems.push_back(mem);
      return true;
    }
    if (variable != nullptr) return frame_access(in, where, mem);
  }
  if (!address(where, mem) || !choose_moves(mem)) return false;
  if (mem.order == Order::Weak && starts_cas_loop(where)) mem.order = Order::Seed;
  note_access(mem, mem.order != Order::Weak);
  Op op = Op::LoadOther;
  if (mem.space == Space::Global || mem.space == Space::Const) op = Op::LoadGlobal;
  if (mem.space == Space::Shared) op = Op::LoadShared;
  Inst& inst = emit(op);
  inst.target = static_cast<uint32_t>(code_.mems.size());
  code_.mems.push_back(mem);
  return true;
}

bool Decoder::store(const Instruction& in) {
  if (!only_known_modifiers(in)) return false;
  MemOp mem;
  mem.is_store = true;
  if (!memory_shape(in, mem, true) || in.operands.size() < 2) return false;
  if (!data_slots(in.operands[1], mem)) return false;
  const Operand& where = in.operands[0];
  if (mem.space == Space::Param)
    return variable_of(where) != nullptr && frame_access(in, where, mem);
  if (mem.space == Space::Const) return false;
  if (!address(where, mem) || !choose_moves(mem)) return false;
  note_access(mem, mem.order != Order::Weak);
  Op op = Op::StoreOther;
  if (mem.space == Space::Global) op = Op::StoreGlobal;
  if (mem.space == Space::Shared) op = Op::StoreShared;
  Inst& inst = emit(op);
  inst.target = static_cast<uint32_t>(code_.mems.size());
  code_.mems.push_back(mem);
  return true;
}

// A .param of a call or of this function: bytes inside the register file. The distance between
// lanes is the variable's size.
bool Decoder::frame_access(const Instruction& in, const Operand& where, MemOp mem) {
  if (in.operands.size() != 2 || where.reg >= 0) return false;
  uint32_t at = 0;
  if (where.param >= 0 && !function().is_entry)
    at = layout().params[where.param];
  else if (where.result >= 0)
    at = layout().returns[where.result];
  else if (where.local_symbol && variable_of(where)->space == Space::Param)
    at = layout().variables[where.symbol];
  else
    return false;
  const int64_t bytes = variable_of(where)->bytes;
  if (where.offset < 0 || where.offset + mem.total > bytes)
    return refuse("access outside a call parameter");
  mem.address = at + static_cast<uint32_t>(where.offset);
  mem.offset = bytes;
  if (!choose_moves(mem)) return false;
  Inst& inst = emit(mem.is_store ? Op::StoreFrame : Op::LoadFrame);
  inst.target = static_cast<uint32_t>(code_.mems.size());
  code_.mems.push_back(mem);
  return true;
}

bool Decoder::atomic(const Instruction& in) {
  static const std::unordered_map<std::string, AtomicOp> kOps = {
      {"add", AtomicOp::Add}, {"min", AtomicOp::Min}, {"max", AtomicOp::Max},
      {"and", AtomicOp::And}, {"or", AtomicOp::Or},   {"xor", AtomicOp::Xor},
      {"inc", AtomicOp::Inc}, {"dec", AtomicOp::Dec}, {"exch", AtomicOp::Exchange},
      {"cas", AtomicOp::Cas}};
  AtomicInst atom;
  bool found = false;
  for (const std::string& m : in.modifiers) {
    const auto op = kOps.find(m);
    if (op == kOps.end()) continue;
    atom.op = op->second;
    found = true;
  }
  if (in.has("async") || in.has("cluster::cta") || !found) return false;
  if (!memory_shape(in, atom.mem, true)) return false;
  atom.type = in.types.back();
  atom.has_result = in.opcode == "atom";
  if (atom.mem.width == 1 || !atomic_supported(atom.op, atom.type)) return false;
  if (atom.mem.order == Order::Weak) atom.mem.order = Order::Strong;
  const size_t first = atom.has_result ? 1 : 0;
  const size_t wanted = first + (atom.op == AtomicOp::Cas ? 3 : 2);
  if (in.operands.size() < wanted) return false;
  if (atom.has_result && !data_slots(in.operands[0], atom.mem)) return false;
  if (atom.mem.count > 4) return false;
  MemOp values = atom.mem;
  values.is_store = true;
  if (!data_slots(in.operands[first + 1], values)) return false;
  std::copy(values.data, values.data + 4, atom.operand);
  if (!atom.has_result) atom.mem.reg_width = values.reg_width;
  if (values.reg_width != atom.mem.width || atom.mem.reg_width != atom.mem.width) return false;
  if (atom.op == AtomicOp::Cas) {
    const auto slot = source(in.operands[first + 2], atom.mem.width, atom.type);
    if (!slot || atom.mem.count != 1) return false;
    atom.swap = *slot;
  }
  if (!address(in.operands[first], atom.mem)) return false;
  note_access(atom.mem, true);
  Inst& inst = emit(Op::Atomic);
  inst.target = static_cast<uint32_t>(code_.atomics.size());
  code_.atomics.push_back(atom);
  return true;
}

// Global and constant addresses are generic already; the other spaces are windows at fixed
// addresses.
bool Decoder::cvta(const Instruction& in) {
  if (in.operands.size() != 2 || in.types.empty()) return false;
  const int width = ptx::type_size(in.types.back());
  const auto dst = destination(in.operands[0], width);
  Operand value = in.operands[1];
  if (value.kind == Operand::Kind::Address) value.kind = Operand::Kind::Symbol;
  const auto src = source(value, width, in.types.back());
  if (!dst || !src || width != 8) return false;
  uint64_t window = 0;
  if (in.space == Space::Shared) window = kSharedWindow;
  if (in.space == Space::Local) window = kLocalWindow;
  if (in.space == Space::Param) window = kParamWindow;
  Inst& inst = emit(in.has("to") ? Op::AddressFromWindow : Op::AddressToWindow);
  inst.args.dst[0] = *dst;
  inst.args.src[0] = *src;
  inst.args.src[1] = static_cast<uint32_t>(window >> 32);
  inst.args.src[2] = static_cast<uint32_t>(window);
  return true;
}

bool Decoder::is_space(const Instruction& in) {
  if (in.operands.size() != 2) return false;
  const auto dst = destination(in.operands[0], 0);
  const auto src = source(in.operands[1], 8, Type::U64);
  if (!dst || !src) return false;
  Inst& inst = emit(Op::IsSpace);
  inst.args.dst[0] = *dst;
  inst.args.src[0] = *src;
  inst.sub = static_cast<uint8_t>(in.space);
  return true;
}

bool Decoder::no_operation(const Instruction&) {
  emit(Op::Nop);
  return true;
}

}  // namespace kw::vgpu
