// Decodes floating-point arithmetic and comparisons. Many opcodes share the same pattern of
// modifiers, so one function serves a group: add and fma, div and sqrt, the approximate ones. Row
// names list modifiers in a fixed order, independent of the order in the text. Rounding modes are
// not part of the name: a directed mode runs the row under another MXCSR. So one row serves four
// modes; the half types support only nearest. Each function also gives the flops per lane for the
// counters.
#include <fmt/core.h>

#include "isa/compare_aux.h"
#include "isa/decode_alu.h"

namespace kw::isa {

using numeric::Round;
using ptx::Type;

namespace {

AluClass class_of(Type t) {
  if (t == Type::F64) return AluClass::Float64;
  return is_half(t) ? AluClass::Float16 : AluClass::Float32;
}

/// Takes the allowed modifiers, in the order that row names use.
std::string flags(Decoder& d, std::initializer_list<std::string_view> allowed) {
  std::string out;
  for (const std::string_view flag : allowed)
    if (d.take(flag)) out += fmt::format(".{}", flag);
  return out;
}

void operands(Decoder& d, Type type, int width, int sources) {
  d.dst_width(width, type);
  for (int i = 0; i < sources; ++i) d.src_width(width, type);
}

/// Two f32 in a 64-bit register.
Result<Alu> decode_f32_pair(Decoder& d, int sources) {
  const Round round = d.take_rounding();
  const std::string ftz = flags(d, {"ftz"});
  operands(d, Type::B64, 8, sources);
  return d.finish_rounded(fmt::format("{}{}.f32x2", d.opcode(), ftz), round, AluClass::Float32,
                          sources == 3 ? 4 : 2);
}

/// add, sub, mul, fma (and mad, which is fma) of f32, f64 and the half types.
Result<Alu> decode_fma_like(Decoder& d, std::string_view op, int sources) {
  const Type t = d.type();
  const Round round = d.take_rounding();
  if (is_half(t) && round != Round::Nearest) return d.unsupported();
  const std::string modifiers = flags(d, {"ftz", "sat", "relu"});
  operands(d, t, lane_width(t), sources);
  const int flops = (sources == 3 ? 2 : 1) * (is_pair(t) ? 2 : 1);
  return d.finish_rounded(fmt::format("{}{}.{}", op, modifiers, ptx::type_name(t)), round,
                          class_of(t), flops);
}

/// add, sub and fma with f16 or bf16 sources and an f32 result: op.f32.f16.
Result<Alu> decode_mixed(Decoder& d, std::string_view op, int sources) {
  const Type narrow = d.type(1);
  if (d.type(0) != Type::F32 || (narrow != Type::F16 && narrow != Type::Bf16))
    return d.unsupported();
  const Round round = d.take_rounding();
  const std::string modifiers = flags(d, {"sat"});
  d.dst(Type::F32);
  for (int i = 0; i < sources - 1; ++i) d.src(narrow);
  d.src(Type::F32);
  return d.finish_rounded(fmt::format("{}{}.f32.{}", op, modifiers, ptx::type_name(narrow)), round,
                          AluClass::Float32, sources == 3 ? 2 : 1);
}

Result<Alu> decode_extreme(Decoder& d) {
  const Type t = d.type();
  const bool three = d.operand_count() == 4;
  std::string modifiers = flags(d, {"ftz", "NaN", "xorsign", "abs"});
  if (three) modifiers += ".3";
  operands(d, t, lane_width(t), three ? 3 : 2);
  return d.finish(fmt::format("{}{}.{}", d.opcode(), modifiers, ptx::type_name(t)), class_of(t));
}

Result<Alu> decode_sign(Decoder& d) {
  const Type t = d.type();
  const std::string ftz = flags(d, {"ftz"});
  operands(d, t, lane_width(t), 1);
  return d.finish(fmt::format("{}{}.{}", d.opcode(), ftz, ptx::type_name(t)), class_of(t));
}

/// div, rcp, sqrt: approximate, full range, or correctly rounded in a given mode.
Result<Alu> decode_quotient(Decoder& d) {
  const Type t = d.type();
  if (t != Type::F32 && t != Type::F64) return d.unsupported();
  const std::string_view kind = d.take_one_of({"approx", "full"});
  bool rounds = false;
  const Round round = d.take_rounding(&rounds);
  if (rounds != kind.empty())
    return d.unsupported("a rounding mode, .approx or .full must be given");
  const std::string ftz = flags(d, {"ftz"});
  operands(d, t, lane_width(t), d.opcode() == "div" ? 2 : 1);
  const AluClass cls = kind.empty() ? class_of(t) : AluClass::Special;
  return d.finish_rounded(
      fmt::format("{}{}{}{}.{}", d.opcode(), kind.empty() ? "" : ".", kind, ftz, ptx::type_name(t)),
      round, cls, 1);
}

/// rsqrt, sin, cos, lg2, ex2, tanh: always approximate.
Result<Alu> decode_special(Decoder& d) {
  const Type t = d.type();
  if (!d.take("approx")) return d.unsupported(".approx is missing");
  const std::string ftz = flags(d, {"ftz"});
  operands(d, t, lane_width(t), 1);
  return d.finish(fmt::format("{}.approx{}.{}", d.opcode(), ftz, ptx::type_name(t)),
                  AluClass::Special, TaintRule::AnyToAll, is_pair(t) ? 2 : 1);
}

Result<Alu> decode_fma(Decoder& d) {
  if (d.take("f32x2")) return decode_f32_pair(d, 3);
  if (d.type_count() == 2) return decode_mixed(d, "fma", 3);
  return decode_fma_like(d, "fma", 3);
}

Result<Alu> decode_copysign(Decoder& d) {
  const Type t = d.type();
  operands(d, t, lane_width(t), 2);
  return d.finish(fmt::format("copysign.{}", ptx::type_name(t)), class_of(t));
}

Result<Alu> decode_testp(Decoder& d) {
  const Type t = d.type();
  const std::string_view test =
      d.take_one_of({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  d.dst(Type::Pred);
  d.src(t);
  return d.finish(fmt::format("testp.{}.{}", test, ptx::type_name(t)), class_of(t));
}

struct Comparison {
  std::string row;  // "lt.ftz.f32"
  bool is_float = false;
};

/// The comparison operator, flushing and source type as a row name. The boolean operator is stored
/// in aux.
Result<Comparison> take_comparison(Decoder& d, Type t) {
  Comparison out;
  out.is_float = t == Type::F32 || t == Type::F64 || is_half(t);
  std::string_view op = d.take_one_of({"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs",
                                       "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  const std::string_view logic = d.take_one_of({"and", "or", "xor"});
  d.alu().aux = logic == "and"   ? kCombineAnd
                : logic == "or"  ? kCombineOr
                : logic == "xor" ? kCombineXor
                                 : 0;
  std::string type = ptx::type_name(t);
  if (is_bits(t)) {
    if (op != "eq" && op != "ne") return d.unsupported("untyped bits have no order");
    type[0] = 'u';
  }
  constexpr std::string_view kUnsigned[][2] = {
      {"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}};
  for (const auto& [from, to] : kUnsigned) {
    if (op != from) continue;
    if (is_signed(t) || out.is_float) return d.unsupported();
    op = to;
  }
  const bool ftz = d.take("ftz");
  out.row = fmt::format("{}{}.{}", op, ftz ? ".ftz" : "", type);
  return out;
}

AluClass compare_class(Type t, bool is_float) { return is_float ? class_of(t) : AluClass::Integer; }

Result<Alu> decode_setp(Decoder& d) {
  const Type t = d.type();
  const Comparison comparison = KW_TRY(take_comparison(d, t));
  const bool combined = d.alu().aux != 0;
  const size_t results = d.operand_count() - (combined ? 3 : 2);
  if (results == 2) d.alu().aux |= kTwoResults;
  for (size_t i = 0; i < (results == 2 ? 2u : 1u); ++i) d.dst(Type::Pred);
  d.src(t);
  d.src(t);
  if (combined) d.src(Type::Pred);
  return d.finish("setp." + comparison.row, compare_class(t, comparison.is_float));
}

/// What `set` writes for true; 0 when PTX does not have this pair of types.
uint32_t set_value(Type result, Type source) {
  if (is_pair(source)) {
    if (result == Type::F16x2) return kSetF16Pair;
    if (result == Type::Bf16x2) return kSetBf16Pair;
    return result == Type::U32 || result == Type::S32 ? kSetOnesPair : 0;
  }
  switch (result) {
    case Type::U16:
    case Type::S16:
      return kSetOnes16;
    case Type::U32:
    case Type::S32:
      return kSetOnes32;
    case Type::F32:
      return kSetF32;
    case Type::F16:
      return kSetF16;
    case Type::Bf16:
      return kSetBf16;
    default:
      return 0;
  }
}

Result<Alu> decode_set(Decoder& d) {
  const Type result = d.type(0), t = d.type(1);
  const Comparison comparison = KW_TRY(take_comparison(d, t));
  const bool combined = d.alu().aux != 0;
  const uint32_t value = set_value(result, t);
  if (value == 0) return d.unsupported();
  d.alu().aux |= value;
  d.dst(result);
  d.src(t);
  d.src(t);
  if (combined) d.src(Type::Pred);
  return d.finish("set." + comparison.row, compare_class(t, comparison.is_float));
}

constexpr DecodeRow kFloatDecoders[] = {
    {"fma", decode_fma},           {"rcp", decode_quotient}, {"sqrt", decode_quotient},
    {"rsqrt", decode_special},     {"sin", decode_special},  {"cos", decode_special},
    {"lg2", decode_special},       {"ex2", decode_special},  {"tanh", decode_special},
    {"testp", decode_testp},       {"setp", decode_setp},    {"set", decode_set},
    {"copysign", decode_copysign},
};

}  // namespace

Result<Alu> decode_float_arithmetic(Decoder& d) {
  const std::string_view op = d.opcode();
  if (d.type() == Type::None) {
    if (op != "add" && op != "sub" && op != "mul") return d.unsupported();
    return decode_f32_pair(d, 2);
  }
  if (op == "div") return decode_quotient(d);
  if (op == "min" || op == "max") return decode_extreme(d);
  if (op == "abs" || op == "neg") return decode_sign(d);
  if (d.type_count() == 2 && (op == "add" || op == "sub")) return decode_mixed(d, op, 2);
  if (op == "mad") return decode_fma_like(d, "fma", 3);
  return decode_fma_like(d, op, 2);
}

std::span<const DecodeRow> float_decoders() { return kFloatDecoders; }

}  // namespace kw::isa
