// Decodes integer and bit instructions. Each function serves the opcodes with the same operand
// pattern. Signedness is part of a row name only if it changes the result: shr.u32 uses the row
// shr.b32, shr.s32 has its own. The condition code of add.cc is not an operand in PTX, so the Alu
// says that it reads or writes it. The taint rule is chosen here too: logic follows single bits,
// shifts follow the real amount, all others make the whole result undefined.
#include <fmt/core.h>

#include "core/contains.h"
#include "isa/decode_alu.h"

namespace kw::isa {

using ptx::Type;

namespace {

std::string name_of(Type type) { return ptx::type_name(type); }

bool has_width(Type type, std::initializer_list<int> bytes) {
  return contains(bytes, ptx::type_size(type));
}

Type double_width(Type type) {
  switch (type) {
    case Type::U16:
      return Type::U32;
    case Type::S16:
      return Type::S32;
    case Type::U32:
      return Type::U64;
    case Type::S32:
      return Type::S64;
    default:
      return Type::None;
  }
}

/// The parser sees u16x2 and s16x2 operands as plain 32-bit registers.
Result<Alu> decode_packed16(Decoder& d, std::string_view pair) {
  const bool relu = d.take("relu");
  for (int i = 0; i < 2; ++i) d.src(Type::B32);
  d.dst(Type::B32);
  return d.finish(fmt::format("{}{}.{}", d.opcode(), relu ? ".relu" : "", pair), AluClass::Integer);
}

Result<Alu> decode_carry(Decoder& d, int sources) {
  const Type t = d.type();
  if (!is_integer(t) || !has_width(t, {4, 8})) return d.unsupported();
  const bool reads = d.opcode().back() == 'c';
  const bool writes = d.take("cc");
  const bool multiplies = sources == 3;
  std::string part;
  if (multiplies) {
    part = d.take_one_of({"lo", "hi"});
    if (part.empty()) return d.unsupported();
    part = "." + part;
  }
  d.dst(t);
  for (int i = 0; i < sources; ++i) d.src(t);
  d.alu().reads_carry = reads;
  d.alu().writes_carry = writes;
  const std::string type = multiplies ? name_of(t) : bits_name(t);
  return d.finish(fmt::format("{}{}{}.{}", d.opcode(), part, writes ? ".cc" : "", type),
                  AluClass::Integer);
}

Result<Alu> decode_multiply(Decoder& d) {
  const Type t = d.type();
  const std::string_view part = d.take_one_of({"lo", "hi", "wide"});
  if (part.empty()) return d.unsupported();
  const bool adds = d.opcode().substr(0, 3) == "mad";
  const bool sat = d.take("sat");
  const Type result = part == "wide" ? double_width(t) : t;
  if (result == Type::None) return d.unsupported();
  d.dst(result);
  d.src(t);
  d.src(t);
  if (adds) d.src(result);
  return d.finish(fmt::format("{}.{}{}.{}", d.opcode(), part, sat ? ".sat" : "", name_of(t)),
                  AluClass::Integer);
}

/// sad, rem and similar: all operands have the instruction's type.
template <int kSources>
Result<Alu> decode_plain(Decoder& d) {
  const Type t = d.type();
  d.dst(t);
  for (int i = 0; i < kSources; ++i) d.src(t);
  return d.finish(fmt::format("{}.{}", d.opcode(), name_of(t)), AluClass::Integer);
}

TaintRule logic_taint(std::string_view opcode) {
  if (opcode == "and") return TaintRule::BitAnd;
  if (opcode == "or") return TaintRule::BitOr;
  return TaintRule::BitXor;
}

Result<Alu> decode_logic(Decoder& d) {
  const Type t = d.type();
  const bool unary = d.opcode() == "not";
  d.dst(t);
  for (int i = 0; i < (unary ? 1 : 2); ++i) d.src(t);
  const TaintRule taint = logic_taint(d.opcode());
  if (t == Type::Pred)
    return d.finish(fmt::format("{}.pred", d.opcode()), AluClass::Predicate, taint);
  if (!is_bits(t)) return d.unsupported();
  return d.finish(fmt::format("{}.{}", d.opcode(), bits_name(t)), AluClass::Integer, taint);
}

Result<Alu> decode_cnot(Decoder& d) {
  if (!is_bits(d.type())) return d.unsupported();
  d.dst(d.type());
  d.src(d.type());
  return d.finish("cnot." + bits_name(d.type()), AluClass::Integer);
}

Result<Alu> decode_lop3(Decoder& d) {
  if (d.type() != Type::B32) return d.unsupported();
  const std::string_view logic = d.take_one_of({"and", "or"});
  const size_t table_at = logic.empty() ? 4 : 5;
  if (d.operand_count() <= table_at || d.operand(table_at).kind != ptx::Operand::Kind::Immediate ||
      d.operand(table_at).bits > 255)
    return d.unsupported("the table must be a constant from 0 to 255");
  d.alu().aux = static_cast<uint32_t>(d.operand(table_at).bits);
  d.alu().folded = 3;
  d.dst(Type::B32);
  if (!logic.empty()) d.dst(Type::Pred);
  for (int i = 0; i < 3; ++i) d.src(Type::B32);
  if (!logic.empty()) d.src(Type::Pred);
  const std::string name = logic.empty() ? "lop3.b32" : fmt::format("lop3.{}.b32", logic);
  return d.finish(name, AluClass::Integer, logic.empty() ? TaintRule::BitXor : TaintRule::AnyToAll);
}

Result<Alu> decode_shift(Decoder& d) {
  const Type t = d.type();
  if (!is_bits(t) && !is_integer(t)) return d.unsupported();
  d.dst(t);
  d.src(t);
  d.src(Type::U32);
  const bool arithmetic = d.opcode() == "shr" && is_signed(t);
  return d.finish(fmt::format("{}.{}", d.opcode(), arithmetic ? name_of(t) : bits_name(t)),
                  AluClass::Integer, TaintRule::Shift);
}

Result<Alu> decode_shf(Decoder& d) {
  const std::string_view side = d.take_one_of({"l", "r"});
  const std::string_view mode = d.take_one_of({"clamp", "wrap"});
  d.dst(Type::B32);
  d.src(Type::B32);
  d.src(Type::B32);
  d.src(Type::U32);
  return d.finish(fmt::format("shf.{}.{}.{}", side, mode, name_of(d.type())), AluClass::Integer,
                  TaintRule::Shift);
}

Result<Alu> decode_prmt(Decoder& d) {
  const std::string_view mode = d.take_one_of({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  d.dst(Type::B32);
  d.src(Type::B32);
  d.src(Type::B32);
  d.src(Type::U32);
  return d.finish(fmt::format("prmt.{}{}{}", name_of(d.type()), mode.empty() ? "" : ".", mode),
                  AluClass::Integer, TaintRule::Shift);
}

/// popc, clz, brev, bfind: one source of the type. The result is a 32-bit count, except for brev.
Result<Alu> decode_count(Decoder& d) {
  const Type t = d.type();
  const bool shift = d.opcode() == "bfind" && d.take("shiftamt");
  d.dst(d.opcode() == "brev" ? t : Type::U32);
  d.src(t);
  return d.finish(fmt::format("{}{}.{}", d.opcode(), shift ? ".shiftamt" : "", name_of(t)),
                  AluClass::Integer);
}

Result<Alu> decode_fns(Decoder& d) {
  d.dst(Type::B32);
  d.src(Type::B32);
  d.src(Type::U32);
  d.src(Type::S32);
  return d.finish("fns." + name_of(d.type()), AluClass::Integer);
}

Result<Alu> decode_field(Decoder& d) {
  const Type t = d.type();
  d.dst(t);
  d.src(t);
  if (d.opcode() == "bfi") d.src(t);
  d.src(Type::U32);
  d.src(Type::U32);
  return d.finish(fmt::format("{}.{}", d.opcode(), name_of(t)), AluClass::Integer);
}

/// bmsk and szext: two 32-bit sources, clamp or wrap.
Result<Alu> decode_mask(Decoder& d) {
  const std::string_view mode = d.take_one_of({"clamp", "wrap"});
  d.dst(d.type());
  d.src(d.type());
  d.src(Type::U32);
  return d.finish(fmt::format("{}.{}.{}", d.opcode(), mode, name_of(d.type())), AluClass::Integer);
}

Result<Alu> decode_dot(Decoder& d) {
  const std::string_view half = d.opcode() == "dp2a" ? d.take_one_of({"lo", "hi"}) : "";
  const Type a = d.type(0), b = d.type(1);
  const Type sum = a == Type::U32 && b == Type::U32 ? Type::U32 : Type::S32;
  d.dst(sum);
  d.src(a);
  d.src(b);
  d.src(sum);
  return d.finish(fmt::format("{}{}{}.{}.{}", d.opcode(), half.empty() ? "" : ".", half, name_of(a),
                              name_of(b)),
                  AluClass::Integer);
}

/// The only SIMD video instruction that compilers still emit, in its plain form.
Result<Alu> decode_vabsdiff4(Decoder& d) {
  const bool sums = d.take("add");
  const Type a = d.type(1), b = d.type(2);
  d.dst(d.type(0));
  d.src(a);
  d.src(b);
  d.src(Type::U32);
  return d.finish(fmt::format("vabsdiff4{}.{}.{}", sums ? ".add" : "", name_of(a), name_of(b)),
                  AluClass::Integer);
}

constexpr DecodeRow kIntegerDecoders[] = {
    {"addc", [](Decoder& d) { return decode_carry(d, 2); }},
    {"subc", [](Decoder& d) { return decode_carry(d, 2); }},
    {"madc", [](Decoder& d) { return decode_carry(d, 3); }},
    {"mul24", decode_multiply},
    {"mad24", decode_multiply},
    {"sad", decode_plain<3>},
    {"rem", decode_plain<2>},
    {"and", decode_logic},
    {"or", decode_logic},
    {"xor", decode_logic},
    {"not", decode_logic},
    {"cnot", decode_cnot},
    {"lop3", decode_lop3},
    {"shl", decode_shift},
    {"shr", decode_shift},
    {"shf", decode_shf},
    {"prmt", decode_prmt},
    {"popc", decode_count},
    {"clz", decode_count},
    {"brev", decode_count},
    {"bfind", decode_count},
    {"fns", decode_fns},
    {"bfe", decode_field},
    {"bfi", decode_field},
    {"bmsk", decode_mask},
    {"szext", decode_mask},
    {"dp4a", decode_dot},
    {"dp2a", decode_dot},
    {"vabsdiff4", decode_vabsdiff4},
};

}  // namespace

Result<Alu> decode_integer_arithmetic(Decoder& d) {
  const std::string_view pair = d.take_one_of({"u16x2", "s16x2"});
  if (!pair.empty()) return decode_packed16(d, pair);
  const Type t = d.type();
  if (!is_integer(t)) return d.unsupported();
  const std::string_view op = d.opcode();
  if ((op == "add" || op == "sub" || op == "mad")) {
    Decoder probe = d;
    if (probe.take("cc")) return decode_carry(d, op == "mad" ? 3 : 2);
  }
  if (op == "mul" || op == "mad") return decode_multiply(d);
  const bool sat = (op == "add" || op == "sub") && d.take("sat");
  const bool relu = (op == "min" || op == "max") && d.take("relu");
  d.dst(t);
  d.src(t);
  if (op != "neg" && op != "abs") d.src(t);
  return d.finish(fmt::format("{}{}{}.{}", op, sat ? ".sat" : "", relu ? ".relu" : "", name_of(t)),
                  AluClass::Integer);
}

std::span<const DecodeRow> integer_decoders() { return kIntegerDecoders; }

}  // namespace kw::isa
