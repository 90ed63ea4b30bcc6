// Decodes cvt. Scalar conversions may use registers wider than their types, packed ones may not.
// There are rows for natural widths only; wider registers run the row through resize(), which
// copies all lanes. Integer conversions without saturation are the common wide case, so they have
// their own rows, `fit`, without that cost. A form without the rounding mode that PTX requires is
// refused.
#include <fmt/core.h>

#include "isa/convert_aux.h"
#include "isa/decode_alu.h"

namespace kw::isa {

using numeric::Round;
using ptx::Type;

namespace {

bool is_scalar_float(Type t) {
  return t == Type::F16 || t == Type::Bf16 || t == Type::F32 || t == Type::F64;
}

struct Modifiers {
  uint32_t aux = 0;
  bool rounds = false;    // .rn .rz .rm .rp .rna
  bool integral = false;  // .rni .rzi .rmi .rpi
};

Modifiers take_modifiers(Decoder& d) {
  Modifiers m;
  constexpr std::string_view kFloat[] = {"rn", "rz", "rm", "rp", "rna"};
  constexpr std::string_view kIntegral[] = {"rni", "rzi", "rmi", "rpi"};
  for (uint32_t i = 0; i < 5; ++i) {
    if (!d.take(kFloat[i])) continue;
    m.rounds = true;
    m.aux = i;
  }
  for (uint32_t i = 0; i < 4; ++i) {
    if (!d.take(kIntegral[i])) continue;
    m.integral = true;
    m.aux = i;
  }
  if (d.take("ftz")) m.aux |= kCvtFtz;
  if (d.take("sat")) m.aux |= kCvtSat;
  if (d.take("relu")) m.aux |= kCvtRelu;
  if (d.take("satfinite")) m.aux |= kCvtSatfinite;
  return m;
}

bool narrows(Type to, Type from) {
  if (to == Type::Bf16) return from != Type::Bf16;
  if (to == Type::F16) return from != Type::F16;
  return to == Type::F32 && from == Type::F64;
}

/// The number of unused high bits of a 64-bit value, and the sign, in the form that `fit` rows
/// read.
uint32_t fit_field(Type t) {
  return static_cast<uint32_t>(64 - 8 * ptx::type_size(t)) | (is_signed(t) ? 64u : 0u);
}

/// Builds the Alu for the row `name` and adapts registers wider than the types.
Result<Alu> finish_scalar(Decoder& d, const std::string& name, uint32_t aux, TaintRule taint) {
  const Type to = d.type(0), from = d.type(1);
  if (d.operand_count() != 2) return d.unsupported("cvt has one destination and one source here");
  Widths widths;
  widths.natural_dst = static_cast<uint8_t>(lane_width(to));
  widths.natural_src = static_cast<uint8_t>(lane_width(from));
  widths.dst = static_cast<uint8_t>(d.register_width(d.operand(0), widths.natural_dst));
  widths.src = static_cast<uint8_t>(d.register_width(d.operand(1), widths.natural_src));
  widths.sign_extend = is_signed(to);
  const bool natural = widths.dst == widths.natural_dst && widths.src == widths.natural_src;
  const bool fits = widths.dst >= widths.natural_dst && widths.src >= widths.natural_src &&
                    widths.src <= 8 && widths.dst <= 8;
  if (!fits) return d.unsupported("register narrower than its type");
  d.dst_width(widths.dst, to);
  d.src_width(widths.src, from);
  if (!natural && taint == TaintRule::Copy) {  // integer to integer: one loop for all widths
    d.alu().aux = fit_field(from) | fit_field(to) << 8;
    return d.finish(fmt::format("fit.{}.{}", 8 * widths.dst, 8 * widths.src), AluClass::Convert,
                    taint);
  }
  Alu alu = KW_TRY(d.finish(name, AluClass::Convert, taint));
  alu.aux = aux;
  if (natural) return alu;
  alu.aux = resize_aux(*find_row(d.level(), name), aux, widths);
  alu.fn = resize;
  return alu;
}

Result<Alu> decode_scalar(Decoder& d, Modifiers m) {
  const Type to = d.type(0), from = d.type(1);
  const bool to_float = is_scalar_float(to), from_float = is_scalar_float(from);
  const std::string pair = fmt::format("{}.{}", ptx::type_name(to), ptx::type_name(from));
  const uint32_t special = kCvtRelu | kCvtSatfinite;
  if ((m.aux & special) != 0 && !(from == Type::F32 && (to == Type::F16 || to == Type::Bf16)))
    return d.unsupported();
  if (!to_float && !from_float) {
    if (m.rounds || m.integral || (m.aux & kCvtFtz) != 0) return d.unsupported();
    const bool sat = (m.aux & kCvtSat) != 0;
    return finish_scalar(d, (sat ? "cvt.sat." : "cvt.") + pair, 0,
                         sat ? TaintRule::AnyToAll : TaintRule::Copy);
  }
  if (!to_float) {
    if (!m.integral) return d.unsupported("integer rounding (.rni .rzi .rmi .rpi) is missing");
    return finish_scalar(d, "cvt." + pair, m.aux & ~kCvtSat, TaintRule::AnyToAll);
  }
  if (m.integral) {
    if (!from_float || to != from) return d.unsupported();
    m.aux |= kCvtToIntegral;
  } else if (!m.rounds && (!from_float || narrows(to, from))) {
    return d.unsupported("a rounding mode is missing");
  }
  if ((m.aux & kCvtRoundMask) == static_cast<uint32_t>(Round::NearestAway)) return d.unsupported();
  // Hardware does not flush conversions to f16; this is visible when rounding away from zero.
  if (to == Type::F16) m.aux &= ~kCvtFtz;
  return finish_scalar(d, "cvt." + pair, m.aux, TaintRule::AnyToAll);
}

/// The packed forms. The row name has both types, and they give the number of sources.
Result<Alu> decode_packed(Decoder& d, const Modifiers& m) {
  const Type to = d.type(0), from = d.type(1);
  const bool two = from == Type::F32 && to != Type::Tf32;
  d.dst(to);
  d.src(from);
  if (two) d.src(from);
  Alu alu = KW_TRY(d.finish(fmt::format("cvt.{}.{}", ptx::type_name(to), ptx::type_name(from)),
                            AluClass::Convert));
  if (!m.rounds) return d.unsupported("a rounding mode is missing");
  alu.aux = m.aux;
  return alu;
}

/// cvt.pack.sat.u8.s32.b32 d, a, b, c: saturates a and b and puts them below the low half of c.
Result<Alu> decode_cvt_pack(Decoder& d) {
  d.take("sat");
  const Type to = d.type(0), from = d.type(1), merged = d.type(2);
  d.dst(Type::B32);
  d.src(from);
  d.src(from);
  if (merged != Type::None) d.src(merged);
  std::string name = fmt::format("cvt.pack.{}.{}", ptx::type_name(to), ptx::type_name(from));
  if (merged != Type::None) name += fmt::format(".{}", ptx::type_name(merged));
  return d.finish(name, AluClass::Convert);
}

bool is_packed(Type t) {
  return is_pair(t) || t == Type::Tf32 || (t >= Type::E4m3 && t <= Type::Ue8m0x2);
}

}  // namespace

Result<Alu> decode_cvt(Decoder& d) {
  if (d.take("pack")) return decode_cvt_pack(d);
  if (d.type_count() != 2) return d.unsupported();
  const Modifiers m = take_modifiers(d);
  if (is_packed(d.type(0)) || is_packed(d.type(1))) return decode_packed(d, m);
  return decode_scalar(d, m);
}

}  // namespace kw::isa
