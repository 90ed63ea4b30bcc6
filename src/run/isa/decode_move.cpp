// Decodes mov, selp, slct and cvt.
#include <fmt/core.h>

#include "isa/decode_alu.h"

namespace kw::isa {

using ptx::Type;

namespace {

Type bits_type(int bytes) {
  switch (bytes) {
    case 1:
      return Type::B8;
    case 2:
      return Type::B16;
    case 4:
      return Type::B32;
    case 8:
      return Type::B64;
    default:
      return Type::B128;
  }
}

/// mov.b64 {a, b}, c and mov.b64 c, {a, b}.
Result<Alu> decode_pack(Decoder& d, bool packs) {
  const int whole = ptx::type_size(d.type());
  const int count = static_cast<int>(d.operand(packs ? 1 : 0).elements.size());
  if ((count != 2 && count != 4) || whole % count != 0) return d.unsupported();
  const Type part = bits_type(whole / count);
  if (packs) {
    d.dst(d.type());
    for (int i = 0; i < count; ++i) d.src(part);
  } else {
    for (int i = 0; i < count; ++i) d.dst(part);
    d.src(d.type());
  }
  return d.finish(fmt::format("{}.{}x{}", packs ? "pack" : "unpack", 8 * whole / count, count),
                  AluClass::Move, TaintRule::Copy);
}

Result<Alu> decode_mov(Decoder& d) {
  using Kind = ptx::Operand::Kind;
  const Type t = d.type();
  if (d.operand_count() != 2) return d.unsupported();
  if (t == Type::Pred) {
    d.dst(t);
    d.src(t);
    return d.finish("mov.pred", AluClass::Predicate, TaintRule::Copy);
  }
  if (t == Type::None) return d.unsupported();
  const bool unpacks = d.operand(0).kind == Kind::Vector, packs = d.operand(1).kind == Kind::Vector;
  if (unpacks && packs) return d.unsupported();
  if (unpacks || packs) return decode_pack(d, packs);
  d.dst(t);
  d.src(t);
  return d.finish(fmt::format("mov.{}", 8 * lane_width(t)), AluClass::Move, TaintRule::Copy);
}

Result<Alu> decode_selp(Decoder& d) {
  const Type t = d.type();
  d.dst(t);
  d.src(t);
  d.src(t);
  d.src(Type::Pred);
  return d.finish(fmt::format("selp.{}", 8 * ptx::type_size(t)), AluClass::Integer,
                  TaintRule::Select);
}

Result<Alu> decode_slct(Decoder& d) {
  const Type t = d.type(0), chooser = d.type(1);
  const bool ftz = d.take("ftz");
  d.dst(t);
  d.src(t);
  d.src(t);
  d.src(chooser);
  return d.finish(fmt::format("slct{}.{}.{}", ftz ? ".ftz" : "", 8 * ptx::type_size(t),
                              ptx::type_name(chooser)),
                  AluClass::Integer, TaintRule::Select);
}

constexpr DecodeRow kMoveDecoders[] = {
    {"mov", decode_mov},
    {"selp", decode_selp},
    {"slct", decode_slct},
    {"cvt", decode_cvt},
};

}  // namespace

std::span<const DecodeRow> move_decoders() { return kMoveDecoders; }

}  // namespace kw::isa
