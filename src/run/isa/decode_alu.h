// Reads one instruction's modifiers and operands and builds its Alu. Each opcode has a small
// function that takes the modifiers it knows and describes its operands. Anything left over is
// "unsupported". Internal to this module.
#pragma once

#include <string>
#include <string_view>

#include "isa/adapters.h"
#include "isa/table.h"

namespace kw::isa {

class Decoder {
 public:
  Decoder(Level level, const ptx::Instruction& instruction, const ptx::Function& function)
      : level_(level), instruction_(instruction), function_(function) {}

  std::string_view opcode() const { return instruction_.opcode; }
  /// True when the instruction has `modifier`; it is then marked as taken.
  bool take(std::string_view modifier);
  /// The first of `modifiers` that is present, or "".
  std::string_view take_one_of(std::initializer_list<std::string_view> modifiers);
  /// .rn .rz .rm .rp; `given` is set to whether there was one.
  numeric::Round take_rounding(bool* given = nullptr);

  /// The n-th type modifier, or None.
  ptx::Type type(size_t n = 0) const {
    return n < instruction_.types.size() ? instruction_.types[n] : ptx::Type::None;
  }
  size_t type_count() const { return instruction_.types.size(); }
  size_t operand_count() const { return instruction_.operands.size(); }
  const ptx::Operand& operand(size_t n) const { return instruction_.operands[n]; }
  /// Bytes per lane of an operand's register; `otherwise` when it is not a register.
  int register_width(const ptx::Operand& operand, int otherwise) const;

  void dst(ptx::Type type);
  void src(ptx::Type type);
  void dst_width(int bytes, ptx::Type type);
  void src_width(int bytes, ptx::Type type);

  Alu& alu() { return alu_; }
  Level level() const { return level_; }

  /// Returns the finished Alu for the row `name`. Checks that every modifier was taken and every
  /// operand fits.
  Result<Alu> finish(const std::string& name, AluClass cls, TaintRule taint = TaintRule::AnyToAll,
                     int flops = 0);
  /// The same for a row that may have to run in a directed rounding mode.
  Result<Alu> finish_rounded(const std::string& name, numeric::Round round, AluClass cls,
                             int flops);
  /// Blame::Input, "unsupported instruction add.foo.f32: why".
  Error unsupported(const std::string& why = "") const;
  /// The instruction as written, without operands.
  std::string text() const;

 private:
  Status check() const;
  Status check_operand(const ptx::Operand& operand, const Slot& slot, bool is_destination) const;

  Level level_;
  const ptx::Instruction& instruction_;
  const ptx::Function& function_;
  Alu alu_;
  uint64_t taken_ = 0;
};

/// Bytes per lane of a register of this type: 8-bit types use 2 bytes, predicates 0.
int lane_width(ptx::Type type);
/// "u32" -> "b32": the untyped name of the same size.
std::string bits_name(ptx::Type type);
bool is_integer(ptx::Type type);  // u8 … s64
bool is_signed(ptx::Type type);
bool is_bits(ptx::Type type);  // b8 … b128
bool is_half(ptx::Type type);  // f16, bf16 and their pairs
bool is_pair(ptx::Type type);  // f16x2, bf16x2

using DecodeFn = Result<Alu> (*)(Decoder&);
struct DecodeRow {
  const char* opcode;
  DecodeFn decode;
};
std::span<const DecodeRow> integer_decoders();
std::span<const DecodeRow> float_decoders();
std::span<const DecodeRow> move_decoders();
/// Decoders of opcodes that integers and floats share: add, sub, mul, mad, min, max, abs, neg, div.
Result<Alu> decode_integer_arithmetic(Decoder& d);
Result<Alu> decode_float_arithmetic(Decoder& d);
Result<Alu> decode_cvt(Decoder& d);

}  // namespace kw::isa
