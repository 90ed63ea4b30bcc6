// cvt to and from packed formats and formats of 8 bits or less: f16x2 and bf16x2 from two f32,
// tf32, fp8, fp4, e8m0, and cvt.pack. The first source goes to the upper part of the result. Float
// formats go through binary32, which holds every source exactly, so each value is rounded once. A
// path per pair of formats would need many more functions. Nearest rounding to 16 bits uses the
// host's instruction if it has one; other modes use the slower code of numeric. NaN follows
// hardware, which truncates it like a number in tf32 with .rna.

#include "isa/half_lanes.h"
#include "isa/rows.h"

namespace kw::isa::KW_SIMD_LEVEL {
namespace {

using numeric::Overflow;
using numeric::Round;

KW_LANE void load_f32(std::byte* file, uint32_t offset, uint32_t aux, float* x) {
  const auto* a = lanes<float>(file, offset);
  for (int i = 0; i < kLanes; ++i) x[i] = a[i];
  if (aux & kCvtRelu)
    for (int i = 0; i < kLanes; ++i) x[i] = x[i] <= 0.0f ? 0.0f : x[i];
}

/// Two f32 to a pair of 16-bit floats.
template <class F>
void pair_from_f32(std::byte* file, const AluArgs& args, uint32_t mask) {
  alignas(64) float high[kLanes], low[kLanes];
  load_f32(file, args.src[0], args.aux, high);
  load_f32(file, args.src[1], args.aux, low);
  alignas(64) uint32_t upper[kLanes], lower[kLanes];
  if ((args.aux & (kCvtRoundMask | kCvtSatfinite)) == static_cast<uint32_t>(Round::Nearest)) {
    alignas(64) uint16_t half[kLanes];
    narrow_all<F, kLanes>(high, half);
    for (int i = 0; i < kLanes; ++i) upper[i] = half[i];
    narrow_all<F, kLanes>(low, half);
    for (int i = 0; i < kLanes; ++i) lower[i] = half[i];
  } else {
    narrow_values<F>(high, args.aux, upper);
    narrow_values<F>(low, args.aux, lower);
  }
  store_lanes<uint32_t>(lanes<uint32_t>(file, args.dst[0]), mask,
                        [&](int i) { return upper[i] << 16 | lower[i]; });
}

/// A NaN as hardware writes it: canonical, except with .rna, which truncates it like a number. Its
/// .satfinite then takes the step that turns an infinity into the largest number.
KW_LANE uint32_t tf32_nan(uint32_t source, bool away, bool saturates) {
  const uint32_t cut = (source & 0xffffe000u) - (saturates ? 0x2000u : 0u);
  return away ? cut : numeric::Tf32::nan << 13;
}
void tf32_from_f32(std::byte* file, const AluArgs& args, uint32_t mask) {
  alignas(64) float x[kLanes];
  load_f32(file, args.src[0], args.aux, x);
  alignas(64) uint32_t out[kLanes];
  narrow_values<numeric::Tf32>(x, args.aux, out);
  const bool away = (args.aux & kCvtRoundMask) == static_cast<uint32_t>(Round::NearestAway);
  const bool saturates = (args.aux & kCvtSatfinite) != 0;
  store_lanes<uint32_t>(lanes<uint32_t>(file, args.dst[0]), mask, [&](int i) {
    return x[i] != x[i] ? tf32_nan(bits(x[i]), away, saturates) : out[i] << 13;
  });
}

template <class F>
KW_LANE uint32_t narrow8(float x) {
  return numeric::narrow<F, Round::Nearest, Overflow::Saturate>(x);
}

/// Two f32 to two elements of kBits each.
template <class F, int kBits>
void small_from_f32(std::byte* file, const AluArgs& args, uint32_t mask) {
  alignas(64) float high[kLanes], low[kLanes];
  load_f32(file, args.src[0], args.aux, high);
  load_f32(file, args.src[1], args.aux, low);
  store_lanes<uint16_t>(lanes<uint16_t>(file, args.dst[0]), mask, [&](int i) {
    return static_cast<uint16_t>(narrow8<F>(high[i]) << kBits | narrow8<F>(low[i]));
  });
}

/// A pair of 16-bit floats to two fp8. binary32 holds an f16 or bf16 exactly.
template <class F, class From>
void small_from_pair(std::byte* file, const AluArgs& args, uint32_t mask) {
  alignas(64) float x[kPairLanes];
  load_halves<From, kPairLanes, false>(file, args.src[0], x);
  if (args.aux & kCvtRelu)
    for (int i = 0; i < kPairLanes; ++i) x[i] = x[i] <= 0.0f ? 0.0f : x[i];
  store_lanes<uint16_t>(lanes<uint16_t>(file, args.dst[0]), mask, [&](int i) {
    return static_cast<uint16_t>(narrow8<F>(x[2 * i + 1]) << 8 | narrow8<F>(x[2 * i]));
  });
}

/// Two elements of kBits to an f16x2. Exact.
template <class F, int kBits>
void pair_from_small(std::byte* file, const AluArgs& args, uint32_t mask) {
  const auto* a = lanes<uint16_t>(file, args.src[0]);
  alignas(64) float part[2][kLanes];
  alignas(64) uint16_t half[2][kLanes];
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < kLanes; ++i)
      part[k][i] =
          numeric::widen<F>(static_cast<uint32_t>(a[i] >> (kBits * k)) & ((1u << kBits) - 1));
    if (args.aux & kCvtRelu)
      for (int i = 0; i < kLanes; ++i) part[k][i] = part[k][i] <= 0.0f ? 0.0f : part[k][i];
    narrow_all<numeric::Fp16, kLanes>(part[k], half[k]);
  }
  store_lanes<uint32_t>(lanes<uint32_t>(file, args.dst[0]), mask, [&](int i) {
    return static_cast<uint32_t>(half[1][i]) << 16 | half[0][i];
  });
}

template <Round kRound, Overflow kOverflow>
KW_LANE void scales(const float* high, const float* low, uint16_t* out) {
  for (int i = 0; i < kLanes; ++i)
    out[i] = static_cast<uint16_t>(numeric::narrow_e8m0<kRound, kOverflow>(high[i]) << 8 |
                                   numeric::narrow_e8m0<kRound, kOverflow>(low[i]));
}
void store_scales(std::byte* file, const AluArgs& args, uint32_t mask, const float* high,
                  const float* low) {
  alignas(64) uint16_t out[kLanes];
  const bool up = (args.aux & kCvtRoundMask) == static_cast<uint32_t>(Round::Up);
  if (args.aux & kCvtSatfinite) {
    up ? scales<Round::Up, Overflow::Saturate>(high, low, out)
       : scales<Round::Zero, Overflow::Saturate>(high, low, out);
  } else {
    up ? scales<Round::Up, Overflow::Infinity>(high, low, out)
       : scales<Round::Zero, Overflow::Infinity>(high, low, out);
  }
  store_lanes<uint16_t>(lanes<uint16_t>(file, args.dst[0]), mask, [&](int i) { return out[i]; });
}
void scales_from_f32(std::byte* file, const AluArgs& args, uint32_t mask) {
  alignas(64) float high[kLanes], low[kLanes];
  load_f32(file, args.src[0], 0, high);
  load_f32(file, args.src[1], 0, low);
  store_scales(file, args, mask, high, low);
}
void scales_from_bf16(std::byte* file, const AluArgs& args, uint32_t mask) {
  alignas(64) float high[kLanes], low[kLanes];
  const auto* a = lanes<uint32_t>(file, args.src[0]);
  for (int i = 0; i < kLanes; ++i) high[i] = as_float(a[i] & 0xffff0000u);
  for (int i = 0; i < kLanes; ++i) low[i] = as_float(a[i] << 16);
  store_scales(file, args, mask, high, low);
}
KW_LANE uint32_t bf16_from_scales(uint16_t a) {
  const uint32_t high =
      numeric::float_to_bf16(numeric::e8m0_to_float(static_cast<uint8_t>(a >> 8)));
  const uint32_t low = numeric::float_to_bf16(numeric::e8m0_to_float(static_cast<uint8_t>(a)));
  return high << 16 | low;
}

/// cvt.pack: both sources are saturated to kBits, a above b. The rest of the register is the low
/// part of c.
template <class D, int kBits>
KW_LANE uint32_t saturated(int32_t x) {
  constexpr int32_t kLow = std::is_signed_v<D> ? -(1 << (kBits - 1)) : 0;
  constexpr int32_t kHigh = (1 << (std::is_signed_v<D> ? kBits - 1 : kBits)) - 1;
  const int32_t limited = x < kLow ? kLow : (x > kHigh ? kHigh : x);
  return static_cast<uint32_t>(limited) & ((1u << kBits) - 1);
}
template <class D, int kBits>
KW_LANE uint32_t pack2(int32_t a, int32_t b) {
  return saturated<D, kBits>(a) << kBits | saturated<D, kBits>(b);
}
template <class D, int kBits>
KW_LANE uint32_t pack3(int32_t a, int32_t b, uint32_t c) {
  return c << (2 * kBits) | pack2<D, kBits>(a, b);
}

using numeric::Bf16;
using numeric::E2m1;
using numeric::E4m3;
using numeric::E5m2;
using numeric::Fp16;

constexpr Row kRows[] = {
    {"cvt.f16x2.f32", pair_from_f32<Fp16>},
    {"cvt.bf16x2.f32", pair_from_f32<Bf16>},
    {"cvt.tf32.f32", tf32_from_f32},
    {"cvt.e4m3x2.f32", small_from_f32<E4m3, 8>},
    {"cvt.e5m2x2.f32", small_from_f32<E5m2, 8>},
    {"cvt.e2m1x2.f32", small_from_f32<E2m1, 4>},
    {"cvt.e4m3x2.f16x2", small_from_pair<E4m3, Fp16>},
    {"cvt.e5m2x2.f16x2", small_from_pair<E5m2, Fp16>},
    {"cvt.f16x2.e4m3x2", pair_from_small<E4m3, 8>},
    {"cvt.f16x2.e5m2x2", pair_from_small<E5m2, 8>},
    {"cvt.f16x2.e2m1x2", pair_from_small<E2m1, 4>},
    {"cvt.ue8m0x2.f32", scales_from_f32},
    {"cvt.ue8m0x2.bf16x2", scales_from_bf16},
    {"cvt.bf16x2.ue8m0x2", map<bf16_from_scales>},
    {"cvt.pack.u16.s32", map<pack2<uint16_t, 16>>},
    {"cvt.pack.s16.s32", map<pack2<int16_t, 16>>},
    {"cvt.pack.u8.s32.b32", map<pack3<uint8_t, 8>>},
    {"cvt.pack.s8.s32.b32", map<pack3<int8_t, 8>>},
};

}  // namespace

std::span<const Row> narrow_rows() { return kRows; }

}  // namespace kw::isa::KW_SIMD_LEVEL
