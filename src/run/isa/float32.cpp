// binary32 arithmetic. Written for round to nearest. Other rounding modes run the same loops under
// another MXCSR (adapters.cpp), so every expression here is a single IEEE operation per rounding.
#include <cmath>

#include "isa/float_lanes.h"
#include "isa/rows.h"

namespace kw::isa::KW_SIMD_LEVEL {
namespace {

template <bool kFtz, bool kSat>
KW_LANE float add(float a, float b) {
  return output<kFtz, kSat>(input<kFtz>(a) + input<kFtz>(b));
}
template <bool kFtz, bool kSat>
KW_LANE float sub(float a, float b) {
  return output<kFtz, kSat>(input<kFtz>(a) - input<kFtz>(b));
}
template <bool kFtz, bool kSat>
KW_LANE float mul(float a, float b) {
  const float x = input<kFtz>(a), y = input<kFtz>(b);
  return output<kFtz, kSat>(x * y, kFtz && is_tiny(x * kTinyScale * y));
}
template <bool kFtz, bool kSat>
KW_LANE float fma(float a, float b, float c) {
  const float x = input<kFtz>(a), y = input<kFtz>(b), z = input<kFtz>(c);
  const bool tiny = kFtz && is_tiny(__builtin_fmaf(x * kTinyScale, y, z * kTinyScale));
  return output<kFtz, kSat>(__builtin_fmaf(x, y, z), tiny);
}
template <bool kFtz>
KW_LANE float div(float a, float b) {
  const float x = input<kFtz>(a), y = input<kFtz>(b);
  return output<kFtz, false>(x / y, kFtz && is_tiny(x * kTinyScale / y));
}
template <bool kFtz>
KW_LANE float rcp(float a) {
  const float x = input<kFtz>(a);
  return output<kFtz, false>(1.0f / x, kFtz && is_tiny(kTinyScale / x));
}
template <bool kFtz>
KW_LANE float square_root(float a) {
  return output<kFtz, false>(__builtin_sqrtf(input<kFtz>(a)));
}

KW_LANE float magnitude(float a) { return as_float(bits(a) & 0x7fffffffu); }
// abs and neg are additions on hardware: a NaN becomes the canonical one.
template <bool kFtz>
KW_LANE float absolute(float a) {
  return canonical(magnitude(input<kFtz>(a)));
}
template <bool kFtz>
KW_LANE float neg(float a) {
  return canonical(as_float(bits(input<kFtz>(a)) ^ 0x80000000u));
}
KW_LANE float copysign(float a, float b) {
  return as_float((bits(a) & 0x80000000u) | (bits(b) & 0x7fffffffu));
}

template <bool kMax, bool kFtz, NanRule kRule>
KW_LANE float extreme2(float a, float b) {
  return extreme<kMax, kRule>(input<kFtz>(a), input<kFtz>(b), as_float(kNan32));
}
template <bool kMax, bool kFtz, NanRule kRule>
KW_LANE float extreme3(float a, float b, float c) {
  const float ab = extreme2<kMax, kFtz, kRule>(a, b);
  return extreme2<kMax, kFtz, kRule>(ab, c);
}
/// .abs with three operands: the extreme of the magnitudes.
template <bool kMax, bool kFtz, NanRule kRule>
KW_LANE float extreme3_abs(float a, float b, float c) {
  return extreme3<kMax, kFtz, kRule>(magnitude(a), magnitude(b), magnitude(c));
}
/// .xorsign.abs: the extreme of the magnitudes, with the sign of the product.
template <bool kMax, bool kFtz, NanRule kRule>
KW_LANE float extreme_xorsign(float a, float b) {
  const uint32_t sign = (bits(a) ^ bits(b)) & 0x80000000u;
  const float result = extreme2<kMax, kFtz, kRule>(magnitude(a), magnitude(b));
  return result != result ? as_float(kNan32) : as_float(bits(result) | sign);
}

// f32x2: applies the function to both halves of a 64-bit register.
template <float (*kFn)(float, float)>
KW_LANE uint64_t pair2(uint64_t a, uint64_t b) {
  const uint64_t low =
      bits(kFn(as_float(static_cast<uint32_t>(a)), as_float(static_cast<uint32_t>(b))));
  const uint64_t high =
      bits(kFn(as_float(static_cast<uint32_t>(a >> 32)), as_float(static_cast<uint32_t>(b >> 32))));
  return low | high << 32;
}
template <float (*kFn)(float, float, float)>
KW_LANE uint64_t pair3(uint64_t a, uint64_t b, uint64_t c) {
  const auto half = [](uint64_t x, int k) { return as_float(static_cast<uint32_t>(x >> k)); };
  const uint64_t low = bits(kFn(half(a, 0), half(b, 0), half(c, 0)));
  const uint64_t high = bits(kFn(half(a, 32), half(b, 32), half(c, 32)));
  return low | high << 32;
}

#define KW_ROWS_FTZ_SAT(name, fn)                                                \
  {name ".f32", map<fn<false, false>>}, {name ".ftz.f32", map<fn<true, false>>}, \
      {name ".sat.f32", map<fn<false, true>>}, {                                 \
    name ".ftz.sat.f32", map<fn<true, true>>                                     \
  }
#define KW_ROWS_FTZ(name, fn) \
  {name ".f32", map<fn<false>>}, { name ".ftz.f32", map<fn<true>> }
#define KW_ROWS_EXTREME(suffix, fn, rule)                      \
  {"min" suffix ".f32", map<fn<false, false, rule>>},          \
      {"max" suffix ".f32", map<fn<true, false, rule>>},       \
      {"min.ftz" suffix ".f32", map<fn<false, true, rule>>}, { \
    "max.ftz" suffix ".f32", map<fn<true, true, rule>>         \
  }
#define KW_ROWS_PAIR(name, pair, fn) \
  {name ".f32x2", map<pair<fn<false, false>>>}, { name ".ftz.f32x2", map<pair<fn<true, false>>> }

constexpr Row kRows[] = {
    KW_ROWS_FTZ_SAT("add", add),
    KW_ROWS_FTZ_SAT("sub", sub),
    KW_ROWS_FTZ_SAT("mul", mul),
    KW_ROWS_FTZ_SAT("fma", fma),
    KW_ROWS_PAIR("add", pair2, add),
    KW_ROWS_PAIR("sub", pair2, sub),
    KW_ROWS_PAIR("mul", pair2, mul),
    KW_ROWS_PAIR("fma", pair3, fma),
    KW_ROWS_FTZ("div", div),
    KW_ROWS_FTZ("rcp", rcp),
    KW_ROWS_FTZ("sqrt", square_root),
    KW_ROWS_FTZ("abs", absolute),
    KW_ROWS_FTZ("neg", neg),
    {"copysign.f32", map<copysign>},
    KW_ROWS_EXTREME("", extreme2, NanRule::Other),
    KW_ROWS_EXTREME(".NaN", extreme2, NanRule::Propagate),
    KW_ROWS_EXTREME(".xorsign.abs", extreme_xorsign, NanRule::Other),
    KW_ROWS_EXTREME(".NaN.xorsign.abs", extreme_xorsign, NanRule::Propagate),
    KW_ROWS_EXTREME(".3", extreme3, NanRule::Other),
    KW_ROWS_EXTREME(".NaN.3", extreme3, NanRule::Propagate),
    KW_ROWS_EXTREME(".abs.3", extreme3_abs, NanRule::Other),
    KW_ROWS_EXTREME(".NaN.abs.3", extreme3_abs, NanRule::Propagate),
};

}  // namespace

std::span<const Row> float_rows() { return kRows; }

}  // namespace kw::isa::KW_SIMD_LEVEL
