// Decodes loads, stores, atomics and address conversions. A MemOp holds everything the warp loop
// needs: space, order, widths, slots and the two move functions. Modifiers are checked against a
// list; an unknown one is refused, because it could change the result. Cache hints are accepted and
// have no effect. A .param of a call is memory in PTX but bytes of the register file here, so it
// gets instructions of its own. note_access collects facts about the whole kernel: whether blocks
// must run in order, and the smallest shared unit.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "core/contains.h"
#include "vgpu/address.h"
#include "vgpu/decoder.h"
#include "vgpu/move.h"
#include "vgpu/registers.h"

namespace kw::vgpu {
namespace {

using ptx::Space;

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
  if (m.starts_with("L1::") || m.starts_with("L2::")) return true;
  return contains(kKnown, m);
}

bool is_space_modifier(const std::string& m) {
  return m == "global" || m == "const" || m == "local" || m.starts_with("shared") ||
         m.starts_with("param");
}

bool only_known_modifiers(const Instruction& in) {
  if (in.types.size() != 1) return false;
  return std::ranges::all_of(in.modifiers, [&](const std::string& m) {
    return known_modifier(m) || is_space_modifier(m) || m == ptx::type_name(in.types.back());
  });
}

bool memory_shape(const Instruction& in, MemOp& mem, bool allow_vector) {
  if (in.types.empty()) return false;
  const Type type = in.types.back();
  mem.space = in.space;
  mem.order = order_of(in);
  mem.cached =
      mem.order == Order::Weak && !in.has("cg") && !in.has("cv") && !in.has("L1::no_allocate");
  mem.read_only = in.has("nc");
  if (in.has("cta") || in.space == Space::Shared) mem.scope = MemoryScope::Block;
  mem.width = static_cast<uint8_t>(ptx::type_size(type));
  mem.sign = is_signed(type);
  mem.count = in.has("v2") ? 2 : in.has("v4") ? 4 : in.has("v8") ? 8 : 1;
  if (mem.count > 1 && !allow_vector) return false;
  const int total = mem.width * mem.count;
  mem.total = static_cast<uint8_t>(total);
  return total > 0 && total <= 32;
}

bool data_slots(Decoder& d, const Operand& operand, MemOp& mem) {
  const std::vector<const Operand*> list = elements_of(operand);
  if (list.size() != mem.count) return false;
  // Registers may be wider than the data. Immediates and discards take the width of a register in
  // the list.
  int width = std::max<int>(2, mem.width);
  for (const Operand* one : list) {
    if (one->kind == Operand::Kind::Register)
      width = register_width(d.function().registers[one->reg].type);
  }
  if (width < mem.width || width == 0) return false;
  mem.reg_width = static_cast<uint8_t>(width);
  for (size_t i = 0; i < list.size(); ++i) {
    const auto slot = mem.is_store ? d.source(*list[i], width, d.instruction->types.back())
                                   : d.destination(*list[i], width);
    if (!slot) return false;
    mem.data[i] = *slot;
  }
  return true;
}

// A .param of a call or of this function: bytes inside the register file. The distance between
// lanes is the variable's size.
bool frame_access(Decoder& d, const Instruction& in, const Operand& where, MemOp mem) {
  if (in.operands.size() != 2 || where.reg >= 0) return false;
  uint32_t at = 0;
  if (where.param >= 0 && !d.function().is_entry)
    at = d.layout().params[where.param];
  else if (where.result >= 0)
    at = d.layout().returns[where.result];
  else if (where.local_symbol && d.variable_of(where)->space == Space::Param)
    at = d.layout().variables[where.symbol];
  else
    return false;
  const int64_t bytes = d.variable_of(where)->bytes;
  if (where.offset < 0 || where.offset + mem.total > bytes)
    return d.refuse("access outside a call parameter");
  mem.address = at + static_cast<uint32_t>(where.offset);
  mem.offset = bytes;
  if (!choose_moves(mem)) return false;
  return d.emit_row(mem.is_store ? Op::StoreFrame : Op::LoadFrame, d.code.mems, mem);
}

bool decode_load(Decoder& d, const Instruction& in) {
  if (!only_known_modifiers(in)) return false;
  MemOp mem;
  if (!memory_shape(in, mem, true) || in.operands.size() < 2) return false;
  const Operand& where = in.operands[1];
  if (!data_slots(d, in.operands[0], mem)) return false;
  if (mem.space == Space::Param) {
    const ptx::Variable* variable = d.variable_of(where);
    if (variable != nullptr && where.param >= 0 && d.function().is_entry) {
      const ParamSlot& param = d.code.params[where.param];
      const int64_t at = param.offset + where.offset;
      if (where.offset < 0 || at + mem.total > int64_t{param.offset} + param.bytes)
        return d.refuse("ld.param reads outside its parameter");
      mem.offset = at;
      if (!choose_moves(mem)) return false;
      return d.emit_row(Op::LoadParam, d.code.mems, mem);
    }
    if (variable != nullptr) return frame_access(d, in, where, mem);
  }
  if (!d.address(where, mem) || !choose_moves(mem)) return false;
  if (mem.order == Order::Weak && d.cas.starts_loop(where)) mem.order = Order::Seed;
  note_access(d.code, mem, mem.order != Order::Weak);
  if (mem.order > Order::Seed) d.code.reads_flags = true;
  Op op = Op::LoadOther;
  if (mem.space == Space::Global || mem.space == Space::Const) op = Op::LoadGlobal;
  if (mem.space == Space::Shared) op = Op::LoadShared;
  return d.emit_row(op, d.code.mems, mem);
}

bool decode_store(Decoder& d, const Instruction& in) {
  if (!only_known_modifiers(in)) return false;
  MemOp mem;
  mem.is_store = true;
  if (!memory_shape(in, mem, true) || in.operands.size() < 2) return false;
  if (!data_slots(d, in.operands[1], mem)) return false;
  const Operand& where = in.operands[0];
  if (mem.space == Space::Param)
    return d.variable_of(where) != nullptr && frame_access(d, in, where, mem);
  if (mem.space == Space::Const) return false;
  if (!d.address(where, mem) || !choose_moves(mem)) return false;
  note_access(d.code, mem, mem.order != Order::Weak);
  Op op = Op::StoreOther;
  if (mem.space == Space::Global) op = Op::StoreGlobal;
  if (mem.space == Space::Shared) op = Op::StoreShared;
  return d.emit_row(op, d.code.mems, mem);
}

// What run_atomic can do.
bool atomic_supported(AtomicOp op, Type type) {
  switch (type) {
    case Type::B16:
    case Type::U16:
      return op == AtomicOp::Cas || op == AtomicOp::Exchange;
    case Type::B32:
    case Type::U32:
    case Type::S32:
    case Type::B64:
    case Type::U64:
    case Type::S64:
      return true;
    case Type::F32:
    case Type::F64:
      return op == AtomicOp::Add || op == AtomicOp::Exchange;
    case Type::F16:
    case Type::F16x2:
    case Type::Bf16:
    case Type::Bf16x2:
      return op == AtomicOp::Add || op == AtomicOp::Min || op == AtomicOp::Max;
    default:
      return false;
  }
}

bool decode_atomic(Decoder& d, const Instruction& in) {
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
  if (atom.has_result && !data_slots(d, in.operands[0], atom.mem)) return false;
  if (atom.mem.count > 4) return false;
  MemOp values = atom.mem;
  values.is_store = true;
  if (!data_slots(d, in.operands[first + 1], values)) return false;
  std::copy(values.data, values.data + 4, atom.operand);
  if (!atom.has_result) atom.mem.reg_width = values.reg_width;
  if (values.reg_width != atom.mem.width || atom.mem.reg_width != atom.mem.width) return false;
  if (atom.op == AtomicOp::Cas) {
    const auto slot = d.source(in.operands[first + 2], atom.mem.width, atom.type);
    if (!slot || atom.mem.count != 1) return false;
    atom.swap = *slot;
  }
  if (!d.address(in.operands[first], atom.mem)) return false;
  note_access(d.code, atom.mem, true);
  if (atom.has_result) d.code.reads_flags = true;
  return d.emit_row(Op::Atomic, d.code.atomics, atom);
}

// Global and constant addresses are generic already; the other spaces are windows.
bool decode_cvta(Decoder& d, const Instruction& in) {
  if (in.operands.size() != 2 || in.types.empty()) return false;
  const int width = ptx::type_size(in.types.back());
  const auto dst = d.destination(in.operands[0], width);
  Operand value = in.operands[1];
  if (value.kind == Operand::Kind::Address) value.kind = Operand::Kind::Symbol;
  const auto src = d.source(value, width, in.types.back());
  if (!dst || !src || width != 8) return false;
  uint32_t window = 0;
  if (in.space == Space::Shared) window = kSharedRegion;
  if (in.space == Space::Local) window = kLocalRegion;
  if (in.space == Space::Param) window = kParamRegion;
  Inst& inst = d.emit(in.has("to") ? Op::AddressFromWindow : Op::AddressToWindow);
  inst.args.dst[0] = *dst;
  inst.args.src[0] = *src;
  inst.args.src[1] = window;
  return true;
}

bool decode_is_space(Decoder& d, const Instruction& in) {
  if (in.operands.size() != 2) return false;
  const auto dst = d.destination(in.operands[0], 0);
  const auto src = d.source(in.operands[1], 8, Type::U64);
  if (!dst || !src) return false;
  Inst& inst = d.emit(Op::IsSpace);
  inst.args.dst[0] = *dst;
  inst.args.src[0] = *src;
  inst.sub = static_cast<uint8_t>(in.space);
  return true;
}

constexpr DecodeRow kMemoryDecoders[] = {
    {"ld", decode_load, leading<1>},
    {"ldu", decode_load, leading<1>},
    {"st", decode_store},
    {"atom", decode_atomic, leading<1>},
    {"red", decode_atomic},
    {"cvta", decode_cvta, leading<1>},
    {"isspacep", decode_is_space, leading<1>},
    {"cp", decode_async_copy},
    {"prefetch", decode_nothing},
    {"prefetchu", decode_nothing},
    {"discard", decode_nothing},
    {"applypriority", decode_nothing},
};

}  // namespace

void note_access(Code& code, const MemOp& mem, bool orders) {
  const bool shared = mem.space == Space::Shared || mem.space == Space::Generic;
  const bool global = mem.space == Space::Global || mem.space == Space::Generic;
  if (shared) {
    uint8_t log2 = 0;
    while ((2 << log2) <= mem.total && log2 < 4) ++log2;
    code.shared_unit_log2 = std::min(code.shared_unit_log2, log2);
  }
  if (global && orders) code.serial = code.has_sync = true;
  if (mem.order >= Order::Acquire) code.releases = true;
  if (global && mem.is_store && mem.order > Order::Seed) code.has_strong_stores = true;
}

bool decode_nothing(Decoder& d, const Instruction&) {
  d.emit(Op::Nop);
  return true;
}

std::span<const DecodeRow> memory_decoders() { return kMemoryDecoders; }

}  // namespace kw::vgpu
