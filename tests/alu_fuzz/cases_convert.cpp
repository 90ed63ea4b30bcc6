#include "cases.h"

namespace kw::alu_fuzz {
namespace {

constexpr FloatType kFloats[] = {kFloat16, kFloatBf16, kFloat32, kFloat64};

struct Integral {
  const char* name;
  Mode mode;
};
constexpr Integral kIntegrals[] = {
    {"rni", Mode::Nearest}, {"rzi", Mode::Zero}, {"rmi", Mode::Down}, {"rpi", Mode::Up}};

/// The register's content after a conversion to `t`: extended when the register is wider.
uint64_t extended(const IntType& t, Int128 x, int register_bits) {
  return IntType{"", register_bits, false}.wrap(t.value(t.wrap(x)));
}

void add_integer_pair(std::vector<Case>& cases, const IntType& to, const IntType& from, bool sat,
                      int dst_bits, int src_bits) {
  Case c;
  c.text = std::string("cvt.") + (sat ? "sat." : "") + to.name + "." + from.name + " $d0, $s0;";
  c.dst = {dst_bits};
  c.src = {{src_bits, Shape::Integer}};
  c.want = [=](Values s, uint64_t* d) {
    Int128 x = from.value(s[0]);
    if (sat) x = x < to.low() ? to.low() : x > to.high() ? to.high() : x;
    d[0] = extended(to, x, dst_bits);
  };
  cases.push_back(c);
}

/// NaN: zero, or only the top bit where f64 or a 64-bit integer takes part.
Int128 nan_integer(const IntType& to, const FloatType& from) {
  return from.bits == 64 || to.bits == 64 ? Int128(1) << (to.bits - 1) : 0;
}

void add_float_to_integer(std::vector<Case>& cases, const IntType& to, const FloatType& from,
                          const Integral& round, bool ftz, int dst_bits) {
  Case c;
  c.text = std::string("cvt.") + round.name + (ftz ? ".ftz." : ".") + to.name + "." + from.name +
           " $d0, $s0;";
  c.dst = {dst_bits};
  c.src = {{from.bits, from.shape}};
  c.sm = from.format == kBf16 ? 90 : 80;
  c.want = [=](Values s, uint64_t* d) {
    const Real x = decode(from.format, flushed(from.format, s[0], ftz));
    const Int128 value = x.kind == Real::Kind::Nan ? nan_integer(to, from)
                                                   : to_integer(x, round.mode, to.low(), to.high());
    d[0] = extended(to, value, dst_bits);
  };
  cases.push_back(c);
}

void add_integer_to_float(std::vector<Case>& cases, const FloatType& to, const IntType& from,
                          const RoundName& round, bool sat) {
  Case c;
  c.text = std::string("cvt.") + round.name + (sat ? ".sat." : ".") + to.name + "." + from.name +
           " $d0, $s0;";
  c.dst = {to.bits};
  c.src = {{from.register_bits(), Shape::Integer}};
  c.sm = to.format == kBf16 ? 90 : 80;
  c.want = [=](Values s, uint64_t* d) {
    const uint64_t x = encode(to.format, from_integer(from.value(s[0])), round.mode);
    d[0] = sat ? saturated(to.format, x) : x;
  };
  cases.push_back(c);
}

bool narrows(const FloatType& to, const FloatType& from) {
  return to.format.mantissa < from.format.mantissa || to.format.exponent < from.format.exponent;
}

/// A NaN in another format: sign and the payload's upper bits, quiet.
uint64_t moved_nan(const Format& to, const Format& from, uint64_t bits) {
  const uint64_t sign = (bits & from.sign()) != 0 ? to.sign() : 0;
  const uint64_t payload = bits & (from.smallest_normal() - 1);
  const int left = to.mantissa - from.mantissa;
  return sign | to.infinity() | to.smallest_normal() >> 1 |
         (left >= 0 ? payload << left : payload >> -left);
}

struct FloatForm {
  std::string modifiers;  // ".rn.ftz"
  Mode mode = Mode::Nearest;
  bool integral = false, ftz = false, sat = false, relu = false, satfinite = false;
};

/// Whether PTX leaves open which NaN a NaN becomes.
bool keeps_nan(const Format& to, const Format& from, const FloatForm& form) {
  if (form.sat) return false;
  if (to == kF64 || from == kF64) return true;
  return to == kF32 && !(from == kF16) && !form.ftz && !form.integral;
}
/// The one an H200 gives: a conversion that changes no bits is a copy.
uint64_t kept_nan(const Format& to, const Format& from, const FloatForm& form, uint64_t bits) {
  if (!form.integral && to == from) return bits;
  if (to == kF32 && from == kBf16) return bits << 16;
  return moved_nan(to, from, form.ftz && from == kF32 ? from.nan : bits);
}
/// Hardware flushes nothing on its way to f16, against the text of the ISA.
bool flushes(const Format& to, const Format& from, const FloatForm& form) {
  return form.ftz && from == kF32 && !(to == kF16);
}

void add_float_to_float(std::vector<Case>& cases, const FloatType& to, const FloatType& from,
                        const FloatForm& form) {
  Case c;
  c.text = "cvt" + form.modifiers + "." + to.name + "." + from.name + " $d0, $s0;";
  c.dst = {to.bits};
  c.src = {{from.bits, from.shape}};
  const bool has_bf16 = to.format == kBf16 || from.format == kBf16;
  c.sm = has_bf16 && !(to.format == kBf16 && from.format == kF32) &&
                 !(from.format == kBf16 && to.format == kF32)
             ? 90
             : 80;
  if (form.satfinite || from.format == kBf16) c.sm = 90;
  c.ptx = form.satfinite ? 81 : 80;
  c.want = [=](Values s, uint64_t* d) {
    Real x = decode(from.format, flushed(from.format, s[0], flushes(to.format, from.format, form)));
    if (form.integral) x = to_integral(x, form.mode);
    uint64_t result = encode(to.format, x, form.mode, form.satfinite);
    result = flushed(to.format, result, form.ftz && to.format == kF32);
    if (form.sat) result = saturated(to.format, result);
    d[0] = form.relu ? rectified(to.format, result) : result;
    if (from.format.is_nan(s[0]) && keeps_nan(to.format, from.format, form))
      d[0] = kept_nan(to.format, from.format, form, s[0]);
  };
  const bool to_f16 = form.ftz && from.format == kF32 && to.format == kF16;
  c.defined = [=](Values s) {
    if (from.format.is_nan(s[0])) return !keeps_nan(to.format, from.format, form);
    return !to_f16 || !from.format.is_subnormal(s[0]);
  };
  cases.push_back(c);
}

void add_float_forms(std::vector<Case>& cases, const FloatType& to, const FloatType& from) {
  const bool has_f32 = to.format == kF32 || from.format == kF32;
  for (const bool ftz : {false, true}) {
    for (const bool sat : {false, true}) {
      if ((ftz && !has_f32) || (sat && (to.format == kBf16 || from.format == kBf16))) continue;
      const std::string tail = std::string(ftz ? ".ftz" : "") + (sat ? ".sat" : "");
      FloatForm form;
      form.ftz = ftz;
      form.sat = sat;
      if (narrows(to, from)) {
        for (const RoundName& round : kRounds) {
          form.mode = round.mode;
          form.modifiers = std::string(".") + round.name + tail;
          add_float_to_float(cases, to, from, form);
        }
      } else {
        form.modifiers = tail;
        add_float_to_float(cases, to, from, form);
      }
      if (!(to.format == from.format)) continue;
      for (const Integral& round : kIntegrals) {
        form.integral = true;
        form.mode = round.mode;
        form.modifiers = std::string(".") + round.name + tail;
        add_float_to_float(cases, to, from, form);
      }
    }
  }
  if (!(from.format == kF32) || to.bits != 16) return;
  for (const RoundName& round : {kRounds[0], kRounds[1]})
    for (const bool relu : {false, true})
      for (const bool satfinite : {false, true}) {
        if (!relu && !satfinite) continue;
        FloatForm form;
        form.mode = round.mode;
        form.relu = relu;
        form.satfinite = satfinite;
        form.modifiers =
            std::string(".") + round.name + (relu ? ".relu" : "") + (satfinite ? ".satfinite" : "");
        add_float_to_float(cases, to, from, form);
      }
}

}  // namespace

void add_convert_cases(std::vector<Case>& cases) {
  for (const IntType& to : kIntTypes) {
    for (const IntType& from : kIntTypes) {
      const bool can_saturate = from.low() < to.low() || from.high() > to.high();
      for (const bool sat : {false, true})
        if (!sat || can_saturate)
          add_integer_pair(cases, to, from, sat, to.register_bits(), from.register_bits());
      // Registers wider than their types, on either side.
      if (to.bits < 32) add_integer_pair(cases, to, from, false, 32, from.register_bits());
      if (from.bits < 32)
        add_integer_pair(cases, to, from, to.bits == 8 && can_saturate, to.register_bits(), 32);
      if (to.bits < 64 && from.bits < 64) add_integer_pair(cases, to, from, false, 64, 64);
    }
    for (const FloatType& from : kFloats)
      for (const Integral& round : kIntegrals) {
        if (from.format == kBf16 && to.bits == 8) continue;
        for (const bool ftz : {false, true})
          if (!ftz || from.format == kF32)
            add_float_to_integer(cases, to, from, round, ftz, to.register_bits());
        if (to.bits < 32 && !(from.format == kBf16))
          add_float_to_integer(cases, to, from, round, false, 32);
      }
  }
  for (const FloatType& to : kFloats) {
    for (const IntType& from : kIntTypes)
      for (const RoundName& round : kRounds)
        for (const bool sat : {false, true}) {
          if (to.format == kBf16 && (sat || from.bits == 8)) continue;
          add_integer_to_float(cases, to, from, round, sat);
        }
    for (const FloatType& from : kFloats) {
      if (to.format == from.format && to.format == kBf16) continue;
      add_float_forms(cases, to, from);
    }
  }
  for (const Integral& round : kIntegrals) {
    FloatForm form;
    form.integral = true;
    form.mode = round.mode;
    form.modifiers = std::string(".") + round.name;
    add_float_to_float(cases, kFloatBf16, kFloatBf16, form);
  }
}

// Packed and narrow formats.
namespace {

constexpr Format kTf32{8, 10, 0};
/// fp8 and fp4 have no infinity (e4m3, e2m1) or are always saturated: found by their values.
struct SmallType {
  const char* name;
  int bits, exponent, mantissa;
  uint64_t largest, nan;  // codes without sign
};
constexpr SmallType kE4m3{"e4m3x2", 8, 4, 3, 0x7e, 0x7f}, kE5m2{"e5m2x2", 8, 5, 2, 0x7b, 0x7f},
    kE2m1{"e2m1x2", 4, 2, 1, 7, 7};

Real small_value(const SmallType& t, uint64_t code) {
  const int bias = (1 << (t.exponent - 1)) - 1;
  const int exponent = static_cast<int>(code >> t.mantissa);
  const uint64_t fraction = code & ((uint64_t(1) << t.mantissa) - 1);
  Real x;
  x.n = Wide(exponent == 0 ? fraction : fraction | uint64_t(1) << t.mantissa);
  x.e = (exponent == 0 ? 1 : exponent) - bias - t.mantissa;
  return x;
}
/// Nearest code by trying them all; ties go to the even one.
uint64_t small_code(const SmallType& t, const Real& x) {
  if (x.kind == Real::Kind::Nan) return t.nan;
  const uint64_t sign = x.negative ? uint64_t(1) << (t.bits - 1) : 0;
  if (x.kind == Real::Kind::Infinite) return sign | t.largest;
  Real magnitude = x;
  magnitude.negative = false;
  if (compare(magnitude, small_value(t, t.largest)) >= 0) return sign | t.largest;
  uint64_t code = 0;
  while (compare(small_value(t, code + 1), magnitude) <= 0) ++code;
  const Real below = add(magnitude, negated(small_value(t, code)), Mode::Nearest);
  const Real above = add(small_value(t, code + 1), negated(magnitude), Mode::Nearest);
  const int side = compare(below, above);
  return sign | (side > 0 || (side == 0 && (code & 1) != 0) ? code + 1 : code);
}
uint64_t small_to_f16(const SmallType& t, uint64_t code) {
  const uint64_t sign = code >> (t.bits - 1) & 1,
                 magnitude = code & ((uint64_t(1) << (t.bits - 1)) - 1);
  if (t.largest != t.nan && magnitude > t.largest) {
    const bool infinite = t.exponent == 5 && magnitude == 0x7c;
    return infinite ? sign << 15 | 0x7c00 : 0x7fff;
  }
  return sign << 15 | encode(kF16, small_value(t, magnitude), Mode::Nearest);
}

void add_pair_from_f32(std::vector<Case>& cases, const FloatType& half, const RoundName& round,
                       bool relu, bool satfinite) {
  Case c;
  c.text = std::string("cvt.") + round.name + (relu ? ".relu" : "") +
           (satfinite ? ".satfinite" : "") + "." + half.name + "x2.f32 $d0, $s0, $s1;";
  c.dst = {32};
  c.src = {{32, Shape::F32}, {32, Shape::F32}};
  c.sm = satfinite ? 90 : 80;
  c.ptx = satfinite ? 81 : 80;
  c.want = [=](Values s, uint64_t* d) {
    const auto part = [&](uint64_t x) {
      const uint64_t y = encode(half.format, decode(kF32, x), round.mode, satfinite);
      return relu ? rectified(half.format, y) : y;
    };
    d[0] = part(s[0]) << 16 | part(s[1]);
  };
  cases.push_back(c);
}

void add_tf32(std::vector<Case>& cases, const std::string& modifiers, Mode mode, bool relu,
              bool satfinite, int sm, int ptx) {
  Case c;
  c.text = "cvt" + modifiers + ".tf32.f32 $d0, $s0;";
  c.dst = {32};
  c.src = {{32, Shape::F32}};
  c.sm = sm;
  c.ptx = ptx;
  c.want = [=](Values s, uint64_t* d) {
    if (kF32.is_nan(s[0])) {
      const uint64_t cut = (s[0] & 0xffffe000) - (satfinite ? 0x2000 : 0);
      d[0] = mode == Mode::NearestAway ? cut : 0x7fffe000;
      return;
    }
    const uint64_t x = encode(kTf32, decode(kF32, s[0]), mode, satfinite) << 13;
    d[0] = relu ? rectified(kF32, x) : x;
  };
  c.defined = [](Values s) { return !kF32.is_nan(s[0]); };  // which NaN is open
  cases.push_back(c);
}

void add_small(std::vector<Case>& cases, const SmallType& t, bool relu) {
  const std::string flag = relu ? ".relu" : "";
  const auto code = [=](const Format& f, uint64_t x) {
    return small_code(t, decode(f, relu ? rectified(f, x) : x));
  };
  const int container = t.bits == 4 ? 8 : 16, sm = t.bits == 4 ? kSpecificTarget : 89,
            ptx = t.bits == 4 ? 86 : 81;
  Case from;
  from.text = std::string("cvt.rn.satfinite") + flag + "." + t.name + ".f32 $d0, $s0, $s1;";
  from.dst = {container};
  from.src = {{32, Shape::F32}, {32, Shape::F32}};
  from.sm = sm;
  from.ptx = ptx;
  from.want = [=](Values s, uint64_t* d) { d[0] = code(kF32, s[0]) << t.bits | code(kF32, s[1]); };
  cases.push_back(from);
  Case to;
  to.text = std::string("cvt.rn") + flag + ".f16x2." + t.name + " $d0, $s0;";
  to.dst = {32};
  to.src = {{container, Shape::Small8x2}};
  to.sm = sm;
  to.ptx = ptx;
  to.want = [=](Values s, uint64_t* d) {
    const auto part = [&](int k) {
      const uint64_t x = small_to_f16(t, s[0] >> (t.bits * k) & ((uint64_t(1) << t.bits) - 1));
      return relu ? rectified(kF16, x) : x;
    };
    d[0] = part(1) << 16 | part(0);
  };
  cases.push_back(to);
  if (t.bits != 8) return;
  Case pair;
  pair.text = std::string("cvt.rn.satfinite") + flag + "." + t.name + ".f16x2 $d0, $s0;";
  pair.dst = {16};
  pair.src = {{32, Shape::F16x2}};
  pair.sm = sm;
  pair.ptx = ptx;
  pair.want = [=](Values s, uint64_t* d) {
    d[0] = code(kF16, s[0] >> 16 & 0xffff) << 8 | code(kF16, s[0] & 0xffff);
  };
  cases.push_back(pair);
}

/// A power of two by its exponent, up or towards zero.
uint64_t scale_code(uint64_t f32, bool up, bool satfinite) {
  if (kF32.is_nan(f32)) return 0xff;
  const uint64_t magnitude = f32 & 0x7fffffff;
  for (uint64_t code = 0; code < 255; ++code) {
    const uint64_t value = code == 0 ? 0x400000 : code << 23, next = (code + 1) << 23;
    if (magnitude <= value) return up || magnitude == value || code == 0 ? code : code - 1;
    if (!up && magnitude < next) return code;
  }
  return satfinite ? 0xfe : 0xff;
}

void add_scales(std::vector<Case>& cases) {
  for (const bool up : {false, true})
    for (const bool satfinite : {false, true}) {
      const std::string head =
          std::string("cvt.") + (up ? "rp" : "rz") + (satfinite ? ".satfinite" : "") + ".ue8m0x2.";
      Case c;
      c.dst = {16};
      c.sm = kSpecificTarget;
      c.ptx = 86;
      c.text = head + "f32 $d0, $s0, $s1;";
      c.src = {{32, Shape::F32}, {32, Shape::F32}};
      c.want = [=](Values s, uint64_t* d) {
        d[0] = scale_code(s[0], up, satfinite) << 8 | scale_code(s[1], up, satfinite);
      };
      cases.push_back(c);
      c.text = head + "bf16x2 $d0, $s0;";
      c.src = {{32, Shape::Bf16x2}};
      c.want = [=](Values s, uint64_t* d) {
        d[0] = scale_code(s[0] & 0xffff0000, up, satfinite) << 8 |
               scale_code(s[0] << 16 & 0xffffffff, up, satfinite);
      };
      cases.push_back(c);
    }
  Case c;
  c.text = "cvt.rn.bf16x2.ue8m0x2 $d0, $s0;";
  c.dst = {32};
  c.src = {{16, Shape::Integer}};
  c.sm = kSpecificTarget;
  c.ptx = 86;
  c.want = [](Values s, uint64_t* d) {
    const auto part = [](uint64_t code) {
      return code == 255 ? 0x7fff : code == 0 ? 0x40 : code << 7;
    };
    d[0] = part(s[0] >> 8 & 0xff) << 16 | part(s[0] & 0xff);
  };
  cases.push_back(c);
}

void add_cvt_pack(std::vector<Case>& cases, const IntType& t) {
  Case c;
  const bool merges = t.bits == 8;
  c.text = std::string("cvt.pack.sat.") + t.name + ".s32" +
           (merges ? ".b32 $d0, $s0, $s1, $s2;" : " $d0, $s0, $s1;");
  c.dst = {32};
  c.src = {{32, Shape::Integer}, {32, Shape::Integer}};
  if (merges) c.src.push_back({32, Shape::Integer});
  c.want = [=](Values s, uint64_t* d) {
    const IntType s32{"", 32, true};
    const auto part = [&](uint64_t raw) {
      const Int128 x = s32.value(raw);
      return t.wrap(x < t.low() ? t.low() : x > t.high() ? t.high() : x);
    };
    d[0] = part(s[0]) << t.bits | part(s[1]);
    if (merges) d[0] |= s[2] << 16 & 0xffffffff;
  };
  cases.push_back(c);
}

}  // namespace

void add_packed_cases(std::vector<Case>& cases) {
  for (const FloatType& half : {kFloat16, kFloatBf16})
    for (const RoundName& round : {kRounds[0], kRounds[1]})
      for (const bool relu : {false, true})
        for (const bool satfinite : {false, true})
          add_pair_from_f32(cases, half, round, relu, satfinite);
  add_tf32(cases, ".rna", Mode::NearestAway, false, false, 80, 80);
  add_tf32(cases, ".rna.satfinite", Mode::NearestAway, false, true, 89, 81);
  for (const RoundName& round : {kRounds[0], kRounds[1]})
    for (const bool relu : {false, true})
      add_tf32(cases, std::string(".") + round.name + (relu ? ".relu" : ""), round.mode, relu,
               false, 90, 80);
  for (const SmallType& t : {kE4m3, kE5m2, kE2m1})
    for (const bool relu : {false, true}) add_small(cases, t, relu);
  add_scales(cases);
  for (const int i : {0, 1, 2, 3}) add_cvt_pack(cases, kIntTypes[i]);
}

}  // namespace kw::alu_fuzz
