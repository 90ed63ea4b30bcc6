// Turns operands into slots of the register file. Immediates, symbols and special registers get
// slots too, filled before the kernel runs. So every operand of an instruction is an offset and the
// warp loop needs no cases. Equal constants share one slot. The alternative, immediates inside
// instructions, would need a second version of every instruction function. The cost is 32 copies of
// each constant in the register file.
#include <bit>

#include "vgpu/address.h"
#include "vgpu/decoder.h"
#include "vgpu/registers.h"

namespace kw::vgpu {
namespace {

// An immediate in the operand's type. Decimal floats are parsed as doubles, 0f… as the bits of a
// float.
uint64_t immediate_bits(const Operand& operand, int width, Type type) {
  const bool as_float = type == Type::F32 || type == Type::Tf32;
  if (operand.immediate == Operand::ImmediateKind::Float64) {
    const double value = std::bit_cast<double>(operand.bits);
    if (as_float) return std::bit_cast<uint32_t>(static_cast<float>(value));
    if (width == 4 && type != Type::F64) return std::bit_cast<uint32_t>(static_cast<float>(value));
    return operand.bits;
  }
  if (operand.immediate == Operand::ImmediateKind::Float32 && type == Type::F64) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(operand.bits));
    return std::bit_cast<uint64_t>(static_cast<double>(value));
  }
  if (type == Type::S8 || type == Type::B8 || type == Type::U8) return operand.bits & 0xff;
  return operand.bits;
}

bool is_on_stack(const Decoder& d, const Operand& operand) {
  return operand.local_symbol && operand.symbol >= 0 && d.layouts.at(d.current).recursive &&
         d.function().variables[operand.symbol].space == ptx::Space::Local;
}

uint32_t constant(Decoder& d, int width, uint64_t bits) {
  if (width > 0 && width < 8) bits &= (uint64_t{1} << (8 * width)) - 1;
  const auto [row, is_new] = d.constants.try_emplace({width, bits}, 0);
  if (is_new) row->second = d.new_slot(width);
  return row->second;
}

uint32_t special(Decoder& d, const Operand& operand, int width) {
  const uint64_t number = operand.special == ptx::Special::EnvReg ? operand.bits : 0;
  const auto [row, is_new] =
      d.specials.try_emplace({static_cast<int>(operand.special), number, width}, 0);
  if (is_new) {
    row->second = d.new_slot(width);
    d.code.specials.push_back(
        {operand.special, static_cast<uint32_t>(number), static_cast<uint8_t>(width), row->second});
  }
  return row->second;
}

// Each run decides where functions and variables in global or constant memory lie.
bool differs_by_run(const Decoder& d, const Operand& operand) {
  if (operand.function >= 0) return true;
  const ptx::Variable* variable = d.variable_of(operand);
  return variable != nullptr && operand.param < 0 && operand.result < 0 &&
         (variable->space == ptx::Space::Global || variable->space == ptx::Space::Const);
}

uint32_t address_slot(Decoder& d, const Operand& operand, int width) {
  const bool function = operand.function >= 0;
  const int index = function ? operand.function : operand.symbol;
  const auto [row, is_new] = d.addresses.try_emplace({function, index, operand.offset, width}, 0);
  if (is_new) {
    row->second = d.new_slot(width);
    d.code.addresses.push_back(
        {function, index, operand.offset, static_cast<uint8_t>(width), row->second});
  }
  return row->second;
}

std::optional<uint64_t> symbol_value(const Decoder& d, const Operand& operand) {
  const uint64_t offset = static_cast<uint64_t>(operand.offset);
  if (operand.param >= 0) {
    if (!d.function().is_entry) return std::nullopt;
    return kWindowStart + d.code.params[operand.param].offset + offset;
  }
  const ptx::Variable* variable = d.variable_of(operand);
  if (variable == nullptr || operand.result >= 0) return std::nullopt;
  switch (variable->space) {
    case ptx::Space::Shared: {
      if (variable->is_extern || variable->bytes == 0) return d.code.shared_static_end + offset;
      if (operand.local_symbol) return d.layouts.at(d.current).variables[operand.symbol] + offset;
      return d.module_shared.at(operand.symbol) + offset;
    }
    case ptx::Space::Local:
      if (!operand.local_symbol) return std::nullopt;
      return d.layouts.at(d.current).variables[operand.symbol] + offset;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::vector<const Operand*> elements_of(const Operand& operand) {
  if (operand.kind != Operand::Kind::Vector) return {&operand};
  std::vector<const Operand*> elements;
  for (const Operand& element : operand.elements) elements.push_back(&element);
  return elements;
}

const ptx::Variable* Decoder::variable_of(const Operand& operand) const {
  const ptx::Function& f = function();
  if (operand.param >= 0) return &f.params[operand.param];
  if (operand.result >= 0) return &f.returns[operand.result];
  if (operand.symbol < 0) return nullptr;
  return operand.local_symbol ? &f.variables[operand.symbol] : &module.variables[operand.symbol];
}

uint32_t Decoder::new_slot(int width) {
  const uint32_t at = next;
  next += (slot_bytes(width) + 63) & ~63u;
  return at;
}

uint32_t Decoder::carry_slot() {
  if (layout().carry_slot == 0) layout().carry_slot = new_slot(0);
  return layout().carry_slot;
}

std::optional<uint32_t> Decoder::source(const Operand& operand, int width, Type type) {
  switch (operand.kind) {
    case Operand::Kind::Register: {
      if (register_width(function().registers[operand.reg].type) != width) return std::nullopt;
      return layout().registers[operand.reg];
    }
    case Operand::Kind::Immediate:
      if (width > 8) return std::nullopt;
      return constant(*this, width, immediate_bits(operand, width, type));
    case Operand::Kind::Special:
      if (width != 2 && width != 4 && width != 8) return std::nullopt;
      return special(*this, operand, width);
    case Operand::Kind::Symbol: {
      if (is_on_stack(*this, operand) && (width == 4 || width == 8))
        return stack_address(*this, operand.symbol, operand.offset, width);
      if (width != 4 && width != 8) return std::nullopt;
      if (differs_by_run(*this, operand)) return address_slot(*this, operand, width);
      const auto value = symbol_value(*this, operand);
      if (!value) return std::nullopt;
      return constant(*this, width, *value);
    }
    default:
      return std::nullopt;
  }
}

std::optional<uint32_t> Decoder::destination(const Operand& operand, int width) {
  if (operand.kind == Operand::Kind::Discard) return discard;
  if (operand.kind != Operand::Kind::Register || operand.negated) return std::nullopt;
  if (register_width(function().registers[operand.reg].type) != width) return std::nullopt;
  return layout().registers[operand.reg];
}

std::optional<uint32_t> Decoder::predicate(const Operand& operand, bool& negate) {
  negate = operand.negated;
  return source(operand, 0, Type::Pred);
}

// [reg + offset], [symbol + offset] or [offset]: always a slot and an offset.
bool Decoder::address(const Operand& operand, MemOp& mem) {
  if (operand.kind != Operand::Kind::Address || !operand.elements.empty()) return false;
  mem.offset = operand.offset;
  if (operand.reg >= 0) {
    const int width = register_width(function().registers[operand.reg].type);
    if (width != 4 && width != 8) return false;
    mem.address64 = width == 8;
    mem.address = layout().registers[operand.reg];
    return true;
  }
  uint64_t value = static_cast<uint64_t>(operand.offset);
  mem.address64 = true;
  if (is_on_stack(*this, operand)) {
    if (mem.space == ptx::Space::Generic) mem.space = ptx::Space::Local;
    mem.address = stack_address(*this, operand.symbol, 0, 8);
    return true;
  }
  mem.offset = 0;
  const ptx::Variable* variable = variable_of(operand);
  if (variable != nullptr) {
    if (differs_by_run(*this, operand)) {
      mem.address = address_slot(*this, operand, 8);
      return true;
    }
    const auto at = symbol_value(*this, operand);
    if (!at) return false;
    value = *at;
    if (mem.space == ptx::Space::Generic) mem.space = variable->space;
  }
  mem.address = constant(*this, 8, value);
  return true;
}

}  // namespace kw::vgpu
